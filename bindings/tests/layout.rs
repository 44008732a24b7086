//! Offsets, masks and numbers against figures that do not come from the headers: the
//! tables of the NVMe base and NVM command set specifications (decimal bytes, as printed
//! there), and ioctl numbers as a compiler gave them on a running system. bindgen and
//! the headers could agree on something wrong; then this is what fails.

use std::mem::{offset_of, size_of};

use nvme_cli_sys::*;

fn size_of_field<T, F>(_: fn(&T) -> &F) -> usize {
    size_of::<F>()
}

/// `table!(structure of its size: field offset size, …)`
macro_rules! table {
    ($structure:ident of $total:literal: $($field:ident $offset:literal $size:literal),+ $(,)?) => {
        assert_eq!(size_of::<$structure>(), $total, "size of {}", stringify!($structure));
        $(
            assert_eq!(
                (
                    offset_of!($structure, $field),
                    size_of_field(|whole: &$structure| &whole.$field),
                ),
                ($offset, $size),
                "offset and size of {}.{}", stringify!($structure), stringify!($field)
            );
        )+
    };
}

#[test]
fn identify_controller() {
    table!(nvme_id_ctrl of 4096:
        vid 0 2, ssvid 2 2, sn 4 20, mn 24 40, fr 64 8, ieee 73 3, cmic 76 1, mdts 77 1,
        cntlid 78 2, ver 80 4, ctratt 96 4, cntrltype 111 1, oacs 256 2, lpa 261 1,
        sanicap 328 4, nn 516 4, oncs 520 2, fuses 522 2, fna 524 1, vwc 525 1, awun 526 2,
        awupf 528 2, sgls 536 4, subnqn 768 256,
    );
}

#[test]
fn identify_namespace() {
    table!(nvme_id_ns of 4096:
        nsze 0 8, ncap 8 8, nuse 16 8, nsfeat 24 1, nlbaf 25 1, flbas 26 1, dpc 28 1, dps 29 1,
        nmic 30 1, rescap 31 1, fpi 32 1, dlfeat 33 1, noiob 46 2, nvmcap 48 16, npwg 64 2,
        npwa 66 2, npdg 68 2, npda 70 2, nows 72 2, nulbaf 82 1, nsattr 99 1, nguid 104 16,
        eui64 120 8, lbaf 128 256,
    );
    table!(nvme_lbaf of 4: ms 0 2, ds 2 1, rp 3 1);
    assert_eq!(offset_of!(nvme_id_ns, lbaf) + 64 * size_of::<nvme_lbaf>(), 384);
}

#[test]
fn identify_for_the_nvm_command_set() {
    // CNS 05h
    table!(nvme_nvm_id_ns of 4096:
        lbstm 0 8, pic 8 1, pifa 9 1, elbaf 12 256, npdgl 268 4, nprg 272 4, npra 276 4,
        nors 280 4, npdal 284 4,
    );
    // CNS 06h
    table!(nvme_id_ctrl_nvm of 4096:
        vsl 0 1, wzsl 1 1, wusl 2 1, dmrl 3 1, dmrsl 4 4, dmsl 8 8, kpiocap 16 1, wzdsl 17 1,
        aocs 18 2, ver 20 4, lbamqf 24 1,
    );
    // CNS 08h: its NSFEAT is another field than that of CNS 00h.
    table!(nvme_id_independent_id_ns of 4096:
        nsfeat 0 1, nmic 1 1, nsattr 8 1, nstat 14 1, kpios 15 1,
    );
}

#[test]
fn passthrough() {
    table!(nvme_passthru_cmd of 72:
        opcode 0 1, flags 1 1, nsid 4 4, cdw2 8 4, cdw3 12 4, metadata 16 8, addr 24 8,
        metadata_len 32 4, data_len 36 4, cdw10 40 4, cdw11 44 4, cdw12 48 4, cdw13 52 4,
        cdw14 56 4, cdw15 60 4, timeout_ms 64 4, result 68 4,
    );
    // The upper half of the result is what the 64 bit command is for.
    table!(nvme_passthru_cmd64 of 80:
        opcode 0 1, flags 1 1, nsid 4 4, cdw2 8 4, cdw3 12 4, metadata 16 8, addr 24 8,
        metadata_len 32 4, __bindgen_anon_1 36 4, cdw10 40 4, cdw15 60 4, timeout_ms 64 4,
        result 72 8,
    );
    assert_eq!(NVME_IOCTL_ID, 0x4e40);
    assert_eq!(NVME_IOCTL_ADMIN_CMD, 0xc048_4e41);
    assert_eq!(NVME_IOCTL_ADMIN64_CMD, 0xc050_4e47);
    assert_eq!(nvme_admin_identify, 0x06);
    assert_eq!(
        [
            NVME_IDENTIFY_CNS_NS,
            NVME_IDENTIFY_CNS_CTRL,
            NVME_IDENTIFY_CNS_CSI_NS,
            NVME_IDENTIFY_CNS_CSI_CTRL,
            NVME_IDENTIFY_CNS_CSI_INDEPENDENT_ID_NS,
        ],
        [0x00, 0x01, 0x05, 0x06, 0x08]
    );
}

#[test]
fn sg() {
    table!(sg_io_hdr of 88:
        interface_id 0 4, dxfer_direction 4 4, cmd_len 8 1, mx_sb_len 9 1, iovec_count 10 2,
        dxfer_len 12 4, dxferp 16 8, cmdp 24 8, sbp 32 8, timeout 40 4, flags 44 4,
        pack_id 48 4, usr_ptr 56 8, status 64 1, masked_status 65 1, msg_status 66 1,
        sb_len_wr 67 1, host_status 68 2, driver_status 70 2, resid 72 4, duration 76 4,
        info 80 4,
    );
    assert_eq!(SG_IO, 0x2285);
    assert_eq!([SG_DXFER_NONE, SG_DXFER_TO_DEV, SG_DXFER_FROM_DEV, SG_DXFER_TO_FROM_DEV], [-1, -2, -3, -4]);
    assert_eq!([SG_INFO_OK_MASK, SG_INFO_OK, SG_INFO_CHECK], [1, 0, 1]);
}

#[test]
fn masks() {
    let oncs = [
        NVME_CTRL_ONCS_COMPARE,
        NVME_CTRL_ONCS_WRITE_UNCORRECTABLE,
        NVME_CTRL_ONCS_DSM,
        NVME_CTRL_ONCS_WRITE_ZEROES,
        NVME_CTRL_ONCS_SAVE_FEATURES,
        NVME_CTRL_ONCS_RESERVATIONS,
        NVME_CTRL_ONCS_TIMESTAMP,
        NVME_CTRL_ONCS_VERIFY,
        NVME_CTRL_ONCS_COPY,
        NVME_CTRL_ONCS_COPY_SINGLE_ATOMICITY,
        NVME_CTRL_ONCS_ALL_FAST_COPY,
        NVME_CTRL_ONCS_WRITE_ZEROES_DEALLOCATE,
        NVME_CTRL_ONCS_NAMESPACE_ZEROES,
    ];
    for (bit, mask) in oncs.into_iter().enumerate() {
        assert_eq!(mask, 1 << bit, "ONCS bit {bit}");
    }

    // DLFEAT b2:0 read value, b3 DEAC in Write Zeroes, b4 guard.
    assert_eq!(NVME_NS_DLFEAT_RB, 0b111);
    assert_eq!([NVME_NS_DLFEAT_RB_NR, NVME_NS_DLFEAT_RB_ALL_0S, NVME_NS_DLFEAT_RB_ALL_FS], [0, 1, 2]);
    assert_eq!([NVME_NS_DLFEAT_WRITE_ZEROES, NVME_NS_DLFEAT_CRC_GUARD], [1 << 3, 1 << 4]);

    assert_eq!(
        [NVME_NS_FEAT_THIN, NVME_NS_FEAT_NATOMIC, NVME_NS_FEAT_DULBE, NVME_NS_FEAT_ID_REUSE, NVME_NS_FEAT_IO_OPT,],
        [1, 1 << 1, 1 << 2, 1 << 3, 0b11 << 4]
    );
    assert_eq!(
        [NVME_NS_FLBAS_LOWER_MASK, NVME_NS_FLBAS_META_EXT, NVME_NS_FLBAS_HIGHER_MASK],
        [0b1111, 1 << 4, 0b11 << 5]
    );
    assert_eq!([NVME_CTRL_VWC_PRESENT, NVME_CTRL_VWC_FLUSH], [1, 0b11 << 1]);
    assert_eq!(
        [
            NVME_CTRL_CMIC_MULTI_PORT,
            NVME_CTRL_CMIC_MULTI_CTRL,
            NVME_CTRL_CMIC_MULTI_SRIOV,
            NVME_CTRL_CMIC_MULTI_ANA_REPORTING,
        ],
        [1, 1 << 1, 1 << 2, 1 << 3]
    );
    assert_eq!(NVME_NS_NMIC_SHARED, 1);
}

#[test]
fn block_ioctls() {
    assert_eq!(BLKZEROOUT, 0x127f);
    assert_eq!(BLKDISCARD, 0x1277);
    assert_eq!(BLKSECDISCARD, 0x127d);
    assert_eq!(BLKGETDISKSEQ, 0x8008_1280);
    assert_eq!(BLKGETSIZE64, 0x8008_1272);
    assert_eq!(BLKSSZGET, 0x1268);
    assert_eq!(BLKPBSZGET, 0x127b);
    assert_eq!(BLKROGET, 0x125e);
    assert_eq!(BLKIOMIN, 0x1278);
    assert_eq!(BLKIOOPT, 0x1279);
    assert_eq!(BLKALIGNOFF, 0x127a);
    assert_eq!(BLKRRPART, 0x125f);
    assert_eq!(BLKFLSBUF, 0x1261);
    assert_eq!(BLKPG, 0x1269);
    assert_eq!([BLKPG_ADD_PARTITION, BLKPG_DEL_PARTITION, BLKPG_RESIZE_PARTITION], [1, 2, 3]);
    table!(blkpg_ioctl_arg of 24: op 0 4, flags 4 4, datalen 8 4, data 16 8);
    table!(blkpg_partition of 152: start 0 8, length 8 8, pno 16 4, devname 20 64, volname 84 64);
}

#[test]
fn fallocate_flags() {
    assert_eq!(FALLOC_FL_ZERO_RANGE, 0x10);
    assert_eq!(FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, 0x11);
    assert_eq!(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0x03);
    assert_eq!(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE | FALLOC_FL_NO_HIDE_STALE, 0x07);
    assert_eq!(FALLOC_FL_WRITE_ZEROES, 0x80);
}

#[test]
fn loop_devices() {
    table!(loop_info64 of 232:
        lo_device 0 8, lo_inode 8 8, lo_rdevice 16 8, lo_offset 24 8, lo_sizelimit 32 8,
        lo_number 40 4, lo_flags 52 4, lo_file_name 56 64,
    );
    table!(loop_config of 304: fd 0 4, block_size 4 4, info 8 232);
    assert_eq!([LOOP_SET_FD, LOOP_CLR_FD, LOOP_CONFIGURE, LOOP_CTL_GET_FREE], [0x4c00, 0x4c01, 0x4c0a, 0x4c82]);
    assert_eq!([LO_FLAGS_READ_ONLY, LO_FLAGS_AUTOCLEAR, LO_FLAGS_PARTSCAN, LO_FLAGS_DIRECT_IO], [1, 4, 8, 16]);
}

#[test]
fn defaults_are_all_zero() {
    // A reserved byte that is not zero makes a kernel refuse a command.
    let command = nvme_passthru_cmd64::default();
    assert_eq!((command.rsvd2, command.result, command.addr), (0, 0, 0));
    let header = sg_io_hdr::default();
    assert!(header.cmdp.is_null() && header.dxferp.is_null() && header.flags == 0);
    assert_eq!(nvme_id_ns::default().vs, [0; 3712]);
}
