/*
 * What bindgen reads. nvme/types.h and not libnvme.h: the latter also brings
 * nvme/ioctl.h, which defines the passthrough structures a second time, and the
 * kernel's own header is the authority on those.
 */
#include <nvme/types.h>
#include <linux/nvme_ioctl.h>
#include <scsi/sg.h>
#include <linux/fs.h>
#include <linux/falloc.h>
#include <linux/fiemap.h>
#include <linux/blkpg.h>
#include <linux/loop.h>
#include <linux/landlock.h>
