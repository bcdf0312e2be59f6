// SPDX-License-Identifier: Apache-2.0
// Go calls C, which calls Go back: it returns, makes its stack grow, or panics out of both.
package main

/*
#cgo LDFLAGS: -lvictim
#include "victim.h"
int victim_go(int i);
*/
import "C"

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

//export goCallback
func goCallback(i C.int) {
	if i%4 == 1 {
		panic("odd")
	}
	if i%4 == 2 {
		deep(1000)
	}
	runtime.Gosched()
}

//go:noinline
func deep(n int) int {
	var big [128]byte
	if n == 0 {
		return int(big[n%128])
	}
	return deep(n-1) + 1
}

// Returns whether it panicked.
func call(i int) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	C.victim_go(C.int(i))
	return
}

func run(rounds int) bool {
	var all sync.WaitGroup
	var panics int64
	for g := 0; g < 8; g++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := 0; i < rounds/4*4; i++ {
				if call(i) {
					atomic.AddInt64(&panics, 1)
				}
			}
		}()
	}
	all.Wait()
	return panics == int64(8*(rounds/4))
}

func main() {
	rounds := int(C.victim_rounds()) / 4
	ok := run(rounds)
	C.victim_gate()
	ok = run(rounds) && ok
	for bool(C.victim_again()) {
		ok = run(rounds) && ok
	}
	C.victim_print(C.CString("go_callback"), C.bool(ok))
	if !ok {
		os.Exit(1)
	}
}
