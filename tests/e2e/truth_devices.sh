#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ioctls are seen whichever way a process came by the descriptor: opened before or after attach, inherited before or
# after, received through a socket, kept over exec; a stranger's on the same device are not.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
. "$(dirname "$0")/truth_devices_lib.sh"
need_root
need_command jq

# RNDGETENTCNT, and a command of no driver
devices_on /dev/urandom mem 0x80045200 0x5ace
can_open() { { : <"$1"; } 2>/dev/null; }
# LOOP_CTL_GET_FREE, of a driver whose devices do not tell it by their number
! can_open /dev/loop-control || devices_on /dev/loop-control misc 0x4c82 0x5ace
# BLKGETSIZE64 on a block device that need not hold anything
! can_open /dev/loop7 || devices_on /dev/loop7 loop 0x80081272 0x5ace
