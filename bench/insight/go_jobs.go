// SPDX-License-Identifier: Apache-2.0

// go_jobs KIND faulty|healthy TASK_US PERCENT SECONDS [DISK]: faults in goroutines that feed the device.
package main

// #include <stdlib.h>
// #include "native.h"
import "C"

import (
	"crypto/sha256"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"unsafe"
)

const (
	workers = 4
	block   = 64 << 10
	bytes   = 64 << 20
)

var (
	faulty  bool
	item_ns uint64
	rounds  int
	buffer  [block]byte
)

// The main goroutine stays on the main thread.
func init() {
	runtime.LockOSThread()
}

func hash(ns uint64) {
	for end := uint64(C.native_cpu_ns()) + ns; uint64(C.native_cpu_ns()) < end; {
		sha256.Sum256(buffer[:2048])
	}
}

// spell does work whose time is the fault; a goroutine stays on its thread during it.
func spell(kind C.int, work func()) {
	runtime.LockOSThread()
	C.native_begin()
	work()
	C.native_end(kind)
	runtime.UnlockOSThread()
}

func feed(items chan int) {
	for i := 0; i <= rounds; i++ {
		C.plant_wait_room()
		C.native_begin()
		<-items
		C.native_end(C.PLANT_NOTHING)
		C.plant_submit(0)
	}
}

// Goroutines that could hash at once, but a mutex lets one at a time do so.
func mutex(items chan int) string {
	var lock sync.Mutex
	for i := 0; i < workers; i++ {
		go func() {
			for {
				lock.Lock()
				spell(C.PLANT_CPU, func() { hash(item_ns) })
				lock.Unlock()
				items <- 1
			}
		}()
	}
	feed(items)
	return "causes=user_code\nwhere=hash|sha256|spell|mutex"
}

// One goroutine reads a slow file for all.
func file(items chan int) string {
	disk, err := syscall.Open(os.Args[6], syscall.O_RDONLY|syscall.O_DIRECT, 0)
	if err != nil {
		panic(err)
	}
	memory, err := syscall.Mmap(-1, 0, block, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		panic(err)
	}
	go func() {
		for at := int64(0); ; at = (at + block) % bytes {
			spell(C.PLANT_ASLEEP, func() { syscall.Pread(disk, memory, at) })
			items <- 1
		}
	}()
	feed(items)
	return "causes=io"
}

func main() {
	kinds := map[string]func(chan int) string{"go_mutex": mutex, "go_file": file}
	faulty = os.Args[2] == "faulty"
	task_us, _ := strconv.ParseUint(os.Args[3], 10, 64)
	percent, _ := strconv.ParseUint(os.Args[4], 10, 64)
	seconds, _ := strconv.ParseFloat(os.Args[5], 64)
	task_ns := 1000 * task_us
	item_ns = task_ns / 8
	if faulty {
		item_ns = task_ns * percent / 100
	}
	rounds = int(seconds * 1e9 / float64(max(item_ns, task_ns)))
	C.plant_open(C.uint64_t(task_ns))
	C.native_go()
	expected := C.CString(kinds[os.Args[1]](make(chan int, 3)))
	defer C.free(unsafe.Pointer(expected))
	C.native_done(expected)
}
