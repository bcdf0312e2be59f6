// SPDX-License-Identifier: Apache-2.0
// Panics that pass through probed functions, and are caught.
use std::hint::black_box;
use std::io::{Read, Write};
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static EPOCH: AtomicUsize = AtomicUsize::new(0);
static STOP: AtomicUsize = AtomicUsize::new(0);
static INNER: [[AtomicUsize; 2]; 2] = [[const { AtomicUsize::new(0) }; 2], [const { AtomicUsize::new(0) }; 2]];
static OUTER: [[AtomicUsize; 2]; 2] = [[const { AtomicUsize::new(0) }; 2], [const { AtomicUsize::new(0) }; 2]];

#[no_mangle]
#[inline(never)]
pub extern "C-unwind" fn victim_rust_inner(i: usize) -> usize {
    let epoch = EPOCH.load(Relaxed);
    INNER[epoch][0].fetch_add(1, Relaxed);
    if i % 2 == 1 {
        panic!("odd");
    }
    INNER[epoch][1].fetch_add(1, Relaxed);
    i
}

#[no_mangle]
#[inline(never)]
pub extern "C-unwind" fn victim_rust_outer(i: usize) -> usize {
    let epoch = EPOCH.load(Relaxed);
    OUTER[epoch][0].fetch_add(1, Relaxed);
    let value = black_box(victim_rust_inner(black_box(i))) + 1;
    OUTER[epoch][1].fetch_add(1, Relaxed);
    value
}

fn run(rounds: usize) -> bool {
    let caught = (0..rounds).filter(|&i| catch_unwind(|| victim_rust_outer(black_box(i))).is_err()).count();
    caught == rounds / 2
}

fn read_line() -> bool {
    let mut c = [0u8; 1];
    while let Ok(1) = std::io::stdin().read(&mut c) {
        if c[0] == b'\n' {
            return true;
        }
    }
    false
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let rounds = std::env::var("VICTIM_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    let looping = std::env::var("VICTIM_LOOP").is_ok();
    let mut ok = run(rounds);

    let _ = std::io::stderr().write_all(b"ready\n");
    read_line();
    EPOCH.store(1, Relaxed);
    if looping {
        let waiter = std::thread::spawn(|| {
            read_line();
            STOP.store(1, Relaxed);
        });
        while STOP.load(Relaxed) == 0 {
            ok &= run(rounds);
        }
        let _ = waiter.join();
    } else {
        ok &= run(rounds);
    }
    println!("rust_panic {}", if ok { "ok" } else { "failed" });
    if !looping {
        for (name, of) in [("inner", &INNER), ("outer", &OUTER)] {
            println!("calls victim_rust_{} {} {} {} {}", name, of[0][0].load(Relaxed), of[0][1].load(Relaxed),
                of[1][0].load(Relaxed), of[1][1].load(Relaxed));
        }
    }
    std::process::exit(if ok { 0 } else { 1 });
}
