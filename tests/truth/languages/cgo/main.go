// SPDX-License-Identifier: Apache-2.0

// main.go - a Go program that calls a runtime's C functions, linked in; see truth.h for how it is spoken to.
package main

// __attribute__((noinline)) int binary_cgo(int value) { __asm__ volatile("" ::: "memory"); return value & 0; }
import "C"

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"sync"
)

// grow uses much stack, so that Go moves it while functions below are open.
//
//go:noinline
func grow(depth int) int {
	var room [512]byte
	room[depth%512] = byte(depth)
	if depth == 0 {
		return 0
	}
	return grow(depth-1) + int(room[(depth+1)%512])
}

// binary_work is a name that the catalog wants: main.binary_work, in a file of Go.
//
//go:noinline
func binary_work(calls int) {
	for i := 0; i < calls; i++ {
		C.binary_cgo(C.int(i))
	}
	grow(200)
}

func main() {
	routines, _ := strconv.Atoi(os.Args[1])
	calls, _ := strconv.Atoi(os.Args[2])
	in := bufio.NewReader(os.Stdin)
	fmt.Println("ready", os.Getpid())
	in.ReadString('\n')
	var all sync.WaitGroup
	for i := 0; i < routines; i++ {
		all.Add(1)
		go func() { defer all.Done(); binary_work(calls) }()
	}
	all.Wait()
	fmt.Println("done")
	in.ReadString('\n')
}
