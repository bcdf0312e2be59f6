// SPDX-License-Identifier: Apache-2.0

//! main.rs - a Rust program whose own functions a catalog names; see truth.h for how it is spoken to.
use std::io::{stdin, stdout, BufRead, Write};

#[no_mangle]
#[inline(never)]
pub extern "C" fn binary_rust(value: i32) -> i32 {
    std::hint::black_box(value) & 0
}

/// Its symbol is mangled: matched by a pattern.
#[inline(never)]
fn binary_mangled(value: i32) -> i32 {
    std::hint::black_box(value) + 1
}

fn wait_line() {
    let mut line = String::new();
    stdin().lock().read_line(&mut line).unwrap();
}

fn main() {
    let counts: Vec<i32> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    println!("ready {}", std::process::id());
    stdout().flush().unwrap();
    wait_line();
    let mut threads = vec![];
    for _ in 0..2 {
        let (plain, mangled) = (counts[0], counts[1]);
        threads.push(std::thread::spawn(move || {
            for i in 0..plain {
                binary_rust(i);
            }
            for i in 0..mangled {
                binary_mangled(i);
            }
        }));
    }
    for thread in threads {
        thread.join().unwrap();
    }
    println!("done");
    stdout().flush().unwrap();
    wait_line();
}
