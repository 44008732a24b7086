#!/bin/bash
# ring: long
# The soak of stuck.sh: 500 calls of show beside a queue that gives no file leave one child.
# vm: -n hang:64M:hang_after=3
set -- 500
. "${0%/*}/stuck.sh"
