// Made by bindings/generate. Do not edit.
// stamp: bindgen=0.72.1 libnvme-dev=1.16.2-1+b1 linux-libc-dev=7.3.4-1~bpo13+1 libc6-dev=2.43-7 clang=14.0.6 rustfmt=1.9.0

pub const NVME_IOCTL_ID: u32 = 20032;
pub const NVME_IOCTL_ADMIN_CMD: u32 = 3225964097;
pub const NVME_IOCTL_ADMIN64_CMD: u32 = 3226488391;
pub const SG_DXFER_NONE: i32 = -1;
pub const SG_DXFER_TO_DEV: i32 = -2;
pub const SG_DXFER_FROM_DEV: i32 = -3;
pub const SG_DXFER_TO_FROM_DEV: i32 = -4;
pub const SG_INFO_OK_MASK: u32 = 1;
pub const SG_INFO_OK: u32 = 0;
pub const SG_INFO_CHECK: u32 = 1;
pub const SG_INFO_DIRECT_IO_MASK: u32 = 6;
pub const SG_INFO_INDIRECT_IO: u32 = 0;
pub const SG_INFO_DIRECT_IO: u32 = 2;
pub const SG_INFO_MIXED_IO: u32 = 4;
pub const SG_IO: u32 = 8837;
pub const BLKROGET: u32 = 4702;
pub const BLKRRPART: u32 = 4703;
pub const BLKFLSBUF: u32 = 4705;
pub const BLKSSZGET: u32 = 4712;
pub const BLKGETSIZE64: u32 = 2148012658;
pub const BLKDISCARD: u32 = 4727;
pub const BLKIOMIN: u32 = 4728;
pub const BLKIOOPT: u32 = 4729;
pub const BLKALIGNOFF: u32 = 4730;
pub const BLKPBSZGET: u32 = 4731;
pub const BLKSECDISCARD: u32 = 4733;
pub const BLKZEROOUT: u32 = 4735;
pub const BLKGETDISKSEQ: u32 = 2148012672;
pub const FALLOC_FL_ALLOCATE_RANGE: u32 = 0;
pub const FALLOC_FL_KEEP_SIZE: u32 = 1;
pub const FALLOC_FL_PUNCH_HOLE: u32 = 2;
pub const FALLOC_FL_NO_HIDE_STALE: u32 = 4;
pub const FALLOC_FL_COLLAPSE_RANGE: u32 = 8;
pub const FALLOC_FL_ZERO_RANGE: u32 = 16;
pub const FALLOC_FL_INSERT_RANGE: u32 = 32;
pub const FALLOC_FL_UNSHARE_RANGE: u32 = 64;
pub const FALLOC_FL_WRITE_ZEROES: u32 = 128;
pub const BLKPG: u32 = 4713;
pub const BLKPG_ADD_PARTITION: u32 = 1;
pub const BLKPG_DEL_PARTITION: u32 = 2;
pub const BLKPG_RESIZE_PARTITION: u32 = 3;
pub const LOOP_SET_FD: u32 = 19456;
pub const LOOP_CLR_FD: u32 = 19457;
pub const LOOP_SET_STATUS: u32 = 19458;
pub const LOOP_GET_STATUS: u32 = 19459;
pub const LOOP_SET_STATUS64: u32 = 19460;
pub const LOOP_GET_STATUS64: u32 = 19461;
pub const LOOP_CHANGE_FD: u32 = 19462;
pub const LOOP_SET_CAPACITY: u32 = 19463;
pub const LOOP_SET_DIRECT_IO: u32 = 19464;
pub const LOOP_SET_BLOCK_SIZE: u32 = 19465;
pub const LOOP_CONFIGURE: u32 = 19466;
pub const LOOP_CTL_ADD: u32 = 19584;
pub const LOOP_CTL_REMOVE: u32 = 19585;
pub const LOOP_CTL_GET_FREE: u32 = 19586;
pub const LANDLOCK_CREATE_RULESET_VERSION: u32 = 1;
pub const LANDLOCK_ACCESS_FS_EXECUTE: u32 = 1;
pub const LANDLOCK_ACCESS_FS_WRITE_FILE: u32 = 2;
pub const LANDLOCK_ACCESS_FS_READ_FILE: u32 = 4;
pub const LANDLOCK_ACCESS_FS_READ_DIR: u32 = 8;
pub const LANDLOCK_ACCESS_FS_REMOVE_DIR: u32 = 16;
pub const LANDLOCK_ACCESS_FS_REMOVE_FILE: u32 = 32;
pub const LANDLOCK_ACCESS_FS_MAKE_CHAR: u32 = 64;
pub const LANDLOCK_ACCESS_FS_MAKE_DIR: u32 = 128;
pub const LANDLOCK_ACCESS_FS_MAKE_REG: u32 = 256;
pub const LANDLOCK_ACCESS_FS_MAKE_SOCK: u32 = 512;
pub const LANDLOCK_ACCESS_FS_MAKE_FIFO: u32 = 1024;
pub const LANDLOCK_ACCESS_FS_MAKE_BLOCK: u32 = 2048;
pub const LANDLOCK_ACCESS_FS_MAKE_SYM: u32 = 4096;
pub const LANDLOCK_ACCESS_FS_REFER: u32 = 8192;
pub const LANDLOCK_ACCESS_FS_TRUNCATE: u32 = 16384;
pub const LANDLOCK_ACCESS_FS_IOCTL_DEV: u32 = 32768;
pub const LANDLOCK_ACCESS_FS_RESOLVE_UNIX: u32 = 65536;
pub type __u8 = ::core::ffi::c_uchar;
pub type __u16 = ::core::ffi::c_ushort;
pub type __s32 = ::core::ffi::c_int;
pub type __u32 = ::core::ffi::c_uint;
pub type __u64 = ::core::ffi::c_ulonglong;
pub type __le16 = __u16;
pub type __le32 = __u32;
pub type __le64 = __u64;
#[repr(C)]
#[derive(Default, Copy, Clone)]
pub struct nvme_id_psd {
    pub mp: __le16,
    pub rsvd2: __u8,
    pub flags: __u8,
    pub enlat: __le32,
    pub exlat: __le32,
    pub rrt: __u8,
    pub rrl: __u8,
    pub rwt: __u8,
    pub rwl: __u8,
    pub idlp: __le16,
    pub ips: __u8,
    pub rsvd19: __u8,
    pub actp: __le16,
    pub apws: __u8,
    pub epfrt: __u8,
    pub fqvt: __u8,
    pub epfvt: __u8,
    pub epfr_fqv_ts: __u8,
    pub epfvts: __u8,
    pub rsvd28: [__u8; 4usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of nvme_id_psd"][::core::mem::size_of::<nvme_id_psd>() - 32usize];
    ["Alignment of nvme_id_psd"][::core::mem::align_of::<nvme_id_psd>() - 4usize];
    ["Offset of field: nvme_id_psd::mp"][::core::mem::offset_of!(nvme_id_psd, mp) - 0usize];
    ["Offset of field: nvme_id_psd::rsvd2"][::core::mem::offset_of!(nvme_id_psd, rsvd2) - 2usize];
    ["Offset of field: nvme_id_psd::flags"][::core::mem::offset_of!(nvme_id_psd, flags) - 3usize];
    ["Offset of field: nvme_id_psd::enlat"][::core::mem::offset_of!(nvme_id_psd, enlat) - 4usize];
    ["Offset of field: nvme_id_psd::exlat"][::core::mem::offset_of!(nvme_id_psd, exlat) - 8usize];
    ["Offset of field: nvme_id_psd::rrt"][::core::mem::offset_of!(nvme_id_psd, rrt) - 12usize];
    ["Offset of field: nvme_id_psd::rrl"][::core::mem::offset_of!(nvme_id_psd, rrl) - 13usize];
    ["Offset of field: nvme_id_psd::rwt"][::core::mem::offset_of!(nvme_id_psd, rwt) - 14usize];
    ["Offset of field: nvme_id_psd::rwl"][::core::mem::offset_of!(nvme_id_psd, rwl) - 15usize];
    ["Offset of field: nvme_id_psd::idlp"][::core::mem::offset_of!(nvme_id_psd, idlp) - 16usize];
    ["Offset of field: nvme_id_psd::ips"][::core::mem::offset_of!(nvme_id_psd, ips) - 18usize];
    ["Offset of field: nvme_id_psd::rsvd19"]
        [::core::mem::offset_of!(nvme_id_psd, rsvd19) - 19usize];
    ["Offset of field: nvme_id_psd::actp"][::core::mem::offset_of!(nvme_id_psd, actp) - 20usize];
    ["Offset of field: nvme_id_psd::apws"][::core::mem::offset_of!(nvme_id_psd, apws) - 22usize];
    ["Offset of field: nvme_id_psd::epfrt"][::core::mem::offset_of!(nvme_id_psd, epfrt) - 23usize];
    ["Offset of field: nvme_id_psd::fqvt"][::core::mem::offset_of!(nvme_id_psd, fqvt) - 24usize];
    ["Offset of field: nvme_id_psd::epfvt"][::core::mem::offset_of!(nvme_id_psd, epfvt) - 25usize];
    ["Offset of field: nvme_id_psd::epfr_fqv_ts"]
        [::core::mem::offset_of!(nvme_id_psd, epfr_fqv_ts) - 26usize];
    ["Offset of field: nvme_id_psd::epfvts"]
        [::core::mem::offset_of!(nvme_id_psd, epfvts) - 27usize];
    ["Offset of field: nvme_id_psd::rsvd28"]
        [::core::mem::offset_of!(nvme_id_psd, rsvd28) - 28usize];
};
#[repr(C)]
#[derive(Copy, Clone)]
pub struct nvme_id_ctrl {
    pub vid: __le16,
    pub ssvid: __le16,
    pub sn: [::core::ffi::c_char; 20usize],
    pub mn: [::core::ffi::c_char; 40usize],
    pub fr: [::core::ffi::c_char; 8usize],
    pub rab: __u8,
    pub ieee: [__u8; 3usize],
    pub cmic: __u8,
    pub mdts: __u8,
    pub cntlid: __le16,
    pub ver: __le32,
    pub rtd3r: __le32,
    pub rtd3e: __le32,
    pub oaes: __le32,
    pub ctratt: __le32,
    pub rrls: __le16,
    pub bpcap: __u8,
    pub rsvd103: __u8,
    pub nssl: __le32,
    pub rsvd108: [__u8; 2usize],
    pub plsi: __u8,
    pub cntrltype: __u8,
    pub fguid: [__u8; 16usize],
    pub crdt1: __le16,
    pub crdt2: __le16,
    pub crdt3: __le16,
    pub crcap: __u8,
    pub rsvd135: [__u8; 118usize],
    pub nvmsr: __u8,
    pub vwci: __u8,
    pub mec: __u8,
    pub oacs: __le16,
    pub acl: __u8,
    pub aerl: __u8,
    pub frmw: __u8,
    pub lpa: __u8,
    pub elpe: __u8,
    pub npss: __u8,
    pub avscc: __u8,
    pub apsta: __u8,
    pub wctemp: __le16,
    pub cctemp: __le16,
    pub mtfa: __le16,
    pub hmpre: __le32,
    pub hmmin: __le32,
    pub tnvmcap: [__u8; 16usize],
    pub unvmcap: [__u8; 16usize],
    pub rpmbs: __le32,
    pub edstt: __le16,
    pub dsto: __u8,
    pub fwug: __u8,
    pub kas: __le16,
    pub hctma: __le16,
    pub mntmt: __le16,
    pub mxtmt: __le16,
    pub sanicap: __le32,
    pub hmminds: __le32,
    pub hmmaxd: __le16,
    pub nsetidmax: __le16,
    pub endgidmax: __le16,
    pub anatt: __u8,
    pub anacap: __u8,
    pub anagrpmax: __le32,
    pub nanagrpid: __le32,
    pub pels: __le32,
    pub domainid: __le16,
    pub kpioc: __u8,
    pub rsvd359: __u8,
    pub mptfawr: __le16,
    pub rsvd362: [__u8; 6usize],
    pub megcap: [__u8; 16usize],
    pub tmpthha: __u8,
    pub rsvd385: __u8,
    pub cqt: __le16,
    pub rsvd388: [__u8; 124usize],
    pub sqes: __u8,
    pub cqes: __u8,
    pub maxcmd: __le16,
    pub nn: __le32,
    pub oncs: __le16,
    pub fuses: __le16,
    pub fna: __u8,
    pub vwc: __u8,
    pub awun: __le16,
    pub awupf: __le16,
    pub icsvscc: __u8,
    pub nwpc: __u8,
    pub acwu: __le16,
    pub ocfs: __le16,
    pub sgls: __le32,
    pub mnan: __le32,
    pub maxdna: [__u8; 16usize],
    pub maxcna: __le32,
    pub oaqd: __le32,
    pub rhiri: __u8,
    pub hirt: __u8,
    pub cmmrtd: __le16,
    pub nmmrtd: __le16,
    pub minmrtg: __u8,
    pub maxmrtg: __u8,
    pub trattr: __u8,
    pub rsvd577: __u8,
    pub mcudmq: __le16,
    pub mnsudmq: __le16,
    pub mcmr: __le16,
    pub nmcmr: __le16,
    pub mcdqpc: __le16,
    pub rsvd588: [__u8; 180usize],
    pub subnqn: [::core::ffi::c_char; 256usize],
    pub rsvd1024: [__u8; 768usize],
    pub ioccsz: __le32,
    pub iorcsz: __le32,
    pub icdoff: __le16,
    pub fcatt: __u8,
    pub msdbd: __u8,
    pub ofcs: __le16,
    pub dctype: __u8,
    pub rsvd1807: [__u8; 241usize],
    pub psd: [nvme_id_psd; 32usize],
    pub vs: [__u8; 1024usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of nvme_id_ctrl"][::core::mem::size_of::<nvme_id_ctrl>() - 4096usize];
    ["Alignment of nvme_id_ctrl"][::core::mem::align_of::<nvme_id_ctrl>() - 4usize];
    ["Offset of field: nvme_id_ctrl::vid"][::core::mem::offset_of!(nvme_id_ctrl, vid) - 0usize];
    ["Offset of field: nvme_id_ctrl::ssvid"][::core::mem::offset_of!(nvme_id_ctrl, ssvid) - 2usize];
    ["Offset of field: nvme_id_ctrl::sn"][::core::mem::offset_of!(nvme_id_ctrl, sn) - 4usize];
    ["Offset of field: nvme_id_ctrl::mn"][::core::mem::offset_of!(nvme_id_ctrl, mn) - 24usize];
    ["Offset of field: nvme_id_ctrl::fr"][::core::mem::offset_of!(nvme_id_ctrl, fr) - 64usize];
    ["Offset of field: nvme_id_ctrl::rab"][::core::mem::offset_of!(nvme_id_ctrl, rab) - 72usize];
    ["Offset of field: nvme_id_ctrl::ieee"][::core::mem::offset_of!(nvme_id_ctrl, ieee) - 73usize];
    ["Offset of field: nvme_id_ctrl::cmic"][::core::mem::offset_of!(nvme_id_ctrl, cmic) - 76usize];
    ["Offset of field: nvme_id_ctrl::mdts"][::core::mem::offset_of!(nvme_id_ctrl, mdts) - 77usize];
    ["Offset of field: nvme_id_ctrl::cntlid"]
        [::core::mem::offset_of!(nvme_id_ctrl, cntlid) - 78usize];
    ["Offset of field: nvme_id_ctrl::ver"][::core::mem::offset_of!(nvme_id_ctrl, ver) - 80usize];
    ["Offset of field: nvme_id_ctrl::rtd3r"]
        [::core::mem::offset_of!(nvme_id_ctrl, rtd3r) - 84usize];
    ["Offset of field: nvme_id_ctrl::rtd3e"]
        [::core::mem::offset_of!(nvme_id_ctrl, rtd3e) - 88usize];
    ["Offset of field: nvme_id_ctrl::oaes"][::core::mem::offset_of!(nvme_id_ctrl, oaes) - 92usize];
    ["Offset of field: nvme_id_ctrl::ctratt"]
        [::core::mem::offset_of!(nvme_id_ctrl, ctratt) - 96usize];
    ["Offset of field: nvme_id_ctrl::rrls"][::core::mem::offset_of!(nvme_id_ctrl, rrls) - 100usize];
    ["Offset of field: nvme_id_ctrl::bpcap"]
        [::core::mem::offset_of!(nvme_id_ctrl, bpcap) - 102usize];
    ["Offset of field: nvme_id_ctrl::rsvd103"]
        [::core::mem::offset_of!(nvme_id_ctrl, rsvd103) - 103usize];
    ["Offset of field: nvme_id_ctrl::nssl"][::core::mem::offset_of!(nvme_id_ctrl, nssl) - 104usize];
    ["Offset of field: nvme_id_ctrl::rsvd108"]
        [::core::mem::offset_of!(nvme_id_ctrl, rsvd108) - 108usize];
    ["Offset of field: nvme_id_ctrl::plsi"][::core::mem::offset_of!(nvme_id_ctrl, plsi) - 110usize];
    ["Offset of field: nvme_id_ctrl::cntrltype"]
        [::core::mem::offset_of!(nvme_id_ctrl, cntrltype) - 111usize];
    ["Offset of field: nvme_id_ctrl::fguid"]
        [::core::mem::offset_of!(nvme_id_ctrl, fguid) - 112usize];
    ["Offset of field: nvme_id_ctrl::crdt1"]
        [::core::mem::offset_of!(nvme_id_ctrl, crdt1) - 128usize];
    ["Offset of field: nvme_id_ctrl::crdt2"]
        [::core::mem::offset_of!(nvme_id_ctrl, crdt2) - 130usize];
    ["Offset of field: nvme_id_ctrl::crdt3"]
        [::core::mem::offset_of!(nvme_id_ctrl, crdt3) - 132usize];
    ["Offset of field: nvme_id_ctrl::crcap"]
        [::core::mem::offset_of!(nvme_id_ctrl, crcap) - 134usize];
    ["Offset of field: nvme_id_ctrl::rsvd135"]
        [::core::mem::offset_of!(nvme_id_ctrl, rsvd135) - 135usize];
    ["Offset of field: nvme_id_ctrl::nvmsr"]
        [::core::mem::offset_of!(nvme_id_ctrl, nvmsr) - 253usize];
    ["Offset of field: nvme_id_ctrl::vwci"][::core::mem::offset_of!(nvme_id_ctrl, vwci) - 254usize];
    ["Offset of field: nvme_id_ctrl::mec"][::core::mem::offset_of!(nvme_id_ctrl, mec) - 255usize];
    ["Offset of field: nvme_id_ctrl::oacs"][::core::mem::offset_of!(nvme_id_ctrl, oacs) - 256usize];
    ["Offset of field: nvme_id_ctrl::acl"][::core::mem::offset_of!(nvme_id_ctrl, acl) - 258usize];
    ["Offset of field: nvme_id_ctrl::aerl"][::core::mem::offset_of!(nvme_id_ctrl, aerl) - 259usize];
    ["Offset of field: nvme_id_ctrl::frmw"][::core::mem::offset_of!(nvme_id_ctrl, frmw) - 260usize];
    ["Offset of field: nvme_id_ctrl::lpa"][::core::mem::offset_of!(nvme_id_ctrl, lpa) - 261usize];
    ["Offset of field: nvme_id_ctrl::elpe"][::core::mem::offset_of!(nvme_id_ctrl, elpe) - 262usize];
    ["Offset of field: nvme_id_ctrl::npss"][::core::mem::offset_of!(nvme_id_ctrl, npss) - 263usize];
    ["Offset of field: nvme_id_ctrl::avscc"]
        [::core::mem::offset_of!(nvme_id_ctrl, avscc) - 264usize];
    ["Offset of field: nvme_id_ctrl::apsta"]
        [::core::mem::offset_of!(nvme_id_ctrl, apsta) - 265usize];
    ["Offset of field: nvme_id_ctrl::wctemp"]
        [::core::mem::offset_of!(nvme_id_ctrl, wctemp) - 266usize];
    ["Offset of field: nvme_id_ctrl::cctemp"]
        [::core::mem::offset_of!(nvme_id_ctrl, cctemp) - 268usize];
    ["Offset of field: nvme_id_ctrl::mtfa"][::core::mem::offset_of!(nvme_id_ctrl, mtfa) - 270usize];
    ["Offset of field: nvme_id_ctrl::hmpre"]
        [::core::mem::offset_of!(nvme_id_ctrl, hmpre) - 272usize];
    ["Offset of field: nvme_id_ctrl::hmmin"]
        [::core::mem::offset_of!(nvme_id_ctrl, hmmin) - 276usize];
    ["Offset of field: nvme_id_ctrl::tnvmcap"]
        [::core::mem::offset_of!(nvme_id_ctrl, tnvmcap) - 280usize];
    ["Offset of field: nvme_id_ctrl::unvmcap"]
        [::core::mem::offset_of!(nvme_id_ctrl, unvmcap) - 296usize];
    ["Offset of field: nvme_id_ctrl::rpmbs"]
        [::core::mem::offset_of!(nvme_id_ctrl, rpmbs) - 312usize];
    ["Offset of field: nvme_id_ctrl::edstt"]
        [::core::mem::offset_of!(nvme_id_ctrl, edstt) - 316usize];
    ["Offset of field: nvme_id_ctrl::dsto"][::core::mem::offset_of!(nvme_id_ctrl, dsto) - 318usize];
    ["Offset of field: nvme_id_ctrl::fwug"][::core::mem::offset_of!(nvme_id_ctrl, fwug) - 319usize];
    ["Offset of field: nvme_id_ctrl::kas"][::core::mem::offset_of!(nvme_id_ctrl, kas) - 320usize];
    ["Offset of field: nvme_id_ctrl::hctma"]
        [::core::mem::offset_of!(nvme_id_ctrl, hctma) - 322usize];
    ["Offset of field: nvme_id_ctrl::mntmt"]
        [::core::mem::offset_of!(nvme_id_ctrl, mntmt) - 324usize];
    ["Offset of field: nvme_id_ctrl::mxtmt"]
        [::core::mem::offset_of!(nvme_id_ctrl, mxtmt) - 326usize];
    ["Offset of field: nvme_id_ctrl::sanicap"]
        [::core::mem::offset_of!(nvme_id_ctrl, sanicap) - 328usize];
    ["Offset of field: nvme_id_ctrl::hmminds"]
        [::core::mem::offset_of!(nvme_id_ctrl, hmminds) - 332usize];
    ["Offset of field: nvme_id_ctrl::hmmaxd"]
        [::core::mem::offset_of!(nvme_id_ctrl, hmmaxd) - 336usize];
    ["Offset of field: nvme_id_ctrl::nsetidmax"]
        [::core::mem::offset_of!(nvme_id_ctrl, nsetidmax) - 338usize];
    ["Offset of field: nvme_id_ctrl::endgidmax"]
        [::core::mem::offset_of!(nvme_id_ctrl, endgidmax) - 340usize];
    ["Offset of field: nvme_id_ctrl::anatt"]
        [::core::mem::offset_of!(nvme_id_ctrl, anatt) - 342usize];
    ["Offset of field: nvme_id_ctrl::anacap"]
        [::core::mem::offset_of!(nvme_id_ctrl, anacap) - 343usize];
    ["Offset of field: nvme_id_ctrl::anagrpmax"]
        [::core::mem::offset_of!(nvme_id_ctrl, anagrpmax) - 344usize];
    ["Offset of field: nvme_id_ctrl::nanagrpid"]
        [::core::mem::offset_of!(nvme_id_ctrl, nanagrpid) - 348usize];
    ["Offset of field: nvme_id_ctrl::pels"][::core::mem::offset_of!(nvme_id_ctrl, pels) - 352usize];
    ["Offset of field: nvme_id_ctrl::domainid"]
        [::core::mem::offset_of!(nvme_id_ctrl, domainid) - 356usize];
    ["Offset of field: nvme_id_ctrl::kpioc"]
        [::core::mem::offset_of!(nvme_id_ctrl, kpioc) - 358usize];
    ["Offset of field: nvme_id_ctrl::rsvd359"]
        [::core::mem::offset_of!(nvme_id_ctrl, rsvd359) - 359usize];
    ["Offset of field: nvme_id_ctrl::mptfawr"]
        [::core::mem::offset_of!(nvme_id_ctrl, mptfawr) - 360usize];
    ["Offset of field: nvme_id_ctrl::rsvd362"]
        [::core::mem::offset_of!(nvme_id_ctrl, rsvd362) - 362usize];
    ["Offset of field: nvme_id_ctrl::megcap"]
        [::core::mem::offset_of!(nvme_id_ctrl, megcap) - 368usize];
    ["Offset of field: nvme_id_ctrl::tmpthha"]
        [::core::mem::offset_of!(nvme_id_ctrl, tmpthha) - 384usize];
    ["Offset of field: nvme_id_ctrl::rsvd385"]
        [::core::mem::offset_of!(nvme_id_ctrl, rsvd385) - 385usize];
    ["Offset of field: nvme_id_ctrl::cqt"][::core::mem::offset_of!(nvme_id_ctrl, cqt) - 386usize];
    ["Offset of field: nvme_id_ctrl::rsvd388"]
        [::core::mem::offset_of!(nvme_id_ctrl, rsvd388) - 388usize];
    ["Offset of field: nvme_id_ctrl::sqes"][::core::mem::offset_of!(nvme_id_ctrl, sqes) - 512usize];
    ["Offset of field: nvme_id_ctrl::cqes"][::core::mem::offset_of!(nvme_id_ctrl, cqes) - 513usize];
    ["Offset of field: nvme_id_ctrl::maxcmd"]
        [::core::mem::offset_of!(nvme_id_ctrl, maxcmd) - 514usize];
    ["Offset of field: nvme_id_ctrl::nn"][::core::mem::offset_of!(nvme_id_ctrl, nn) - 516usize];
    ["Offset of field: nvme_id_ctrl::oncs"][::core::mem::offset_of!(nvme_id_ctrl, oncs) - 520usize];
    ["Offset of field: nvme_id_ctrl::fuses"]
        [::core::mem::offset_of!(nvme_id_ctrl, fuses) - 522usize];
    ["Offset of field: nvme_id_ctrl::fna"][::core::mem::offset_of!(nvme_id_ctrl, fna) - 524usize];
    ["Offset of field: nvme_id_ctrl::vwc"][::core::mem::offset_of!(nvme_id_ctrl, vwc) - 525usize];
    ["Offset of field: nvme_id_ctrl::awun"][::core::mem::offset_of!(nvme_id_ctrl, awun) - 526usize];
    ["Offset of field: nvme_id_ctrl::awupf"]
        [::core::mem::offset_of!(nvme_id_ctrl, awupf) - 528usize];
    ["Offset of field: nvme_id_ctrl::icsvscc"]
        [::core::mem::offset_of!(nvme_id_ctrl, icsvscc) - 530usize];
    ["Offset of field: nvme_id_ctrl::nwpc"][::core::mem::offset_of!(nvme_id_ctrl, nwpc) - 531usize];
    ["Offset of field: nvme_id_ctrl::acwu"][::core::mem::offset_of!(nvme_id_ctrl, acwu) - 532usize];
    ["Offset of field: nvme_id_ctrl::ocfs"][::core::mem::offset_of!(nvme_id_ctrl, ocfs) - 534usize];
    ["Offset of field: nvme_id_ctrl::sgls"][::core::mem::offset_of!(nvme_id_ctrl, sgls) - 536usize];
    ["Offset of field: nvme_id_ctrl::mnan"][::core::mem::offset_of!(nvme_id_ctrl, mnan) - 540usize];
    ["Offset of field: nvme_id_ctrl::maxdna"]
        [::core::mem::offset_of!(nvme_id_ctrl, maxdna) - 544usize];
    ["Offset of field: nvme_id_ctrl::maxcna"]
        [::core::mem::offset_of!(nvme_id_ctrl, maxcna) - 560usize];
    ["Offset of field: nvme_id_ctrl::oaqd"][::core::mem::offset_of!(nvme_id_ctrl, oaqd) - 564usize];
    ["Offset of field: nvme_id_ctrl::rhiri"]
        [::core::mem::offset_of!(nvme_id_ctrl, rhiri) - 568usize];
    ["Offset of field: nvme_id_ctrl::hirt"][::core::mem::offset_of!(nvme_id_ctrl, hirt) - 569usize];
    ["Offset of field: nvme_id_ctrl::cmmrtd"]
        [::core::mem::offset_of!(nvme_id_ctrl, cmmrtd) - 570usize];
    ["Offset of field: nvme_id_ctrl::nmmrtd"]
        [::core::mem::offset_of!(nvme_id_ctrl, nmmrtd) - 572usize];
    ["Offset of field: nvme_id_ctrl::minmrtg"]
        [::core::mem::offset_of!(nvme_id_ctrl, minmrtg) - 574usize];
    ["Offset of field: nvme_id_ctrl::maxmrtg"]
        [::core::mem::offset_of!(nvme_id_ctrl, maxmrtg) - 575usize];
    ["Offset of field: nvme_id_ctrl::trattr"]
        [::core::mem::offset_of!(nvme_id_ctrl, trattr) - 576usize];
    ["Offset of field: nvme_id_ctrl::rsvd577"]
        [::core::mem::offset_of!(nvme_id_ctrl, rsvd577) - 577usize];
    ["Offset of field: nvme_id_ctrl::mcudmq"]
        [::core::mem::offset_of!(nvme_id_ctrl, mcudmq) - 578usize];
    ["Offset of field: nvme_id_ctrl::mnsudmq"]
        [::core::mem::offset_of!(nvme_id_ctrl, mnsudmq) - 580usize];
    ["Offset of field: nvme_id_ctrl::mcmr"][::core::mem::offset_of!(nvme_id_ctrl, mcmr) - 582usize];
    ["Offset of field: nvme_id_ctrl::nmcmr"]
        [::core::mem::offset_of!(nvme_id_ctrl, nmcmr) - 584usize];
    ["Offset of field: nvme_id_ctrl::mcdqpc"]
        [::core::mem::offset_of!(nvme_id_ctrl, mcdqpc) - 586usize];
    ["Offset of field: nvme_id_ctrl::rsvd588"]
        [::core::mem::offset_of!(nvme_id_ctrl, rsvd588) - 588usize];
    ["Offset of field: nvme_id_ctrl::subnqn"]
        [::core::mem::offset_of!(nvme_id_ctrl, subnqn) - 768usize];
    ["Offset of field: nvme_id_ctrl::rsvd1024"]
        [::core::mem::offset_of!(nvme_id_ctrl, rsvd1024) - 1024usize];
    ["Offset of field: nvme_id_ctrl::ioccsz"]
        [::core::mem::offset_of!(nvme_id_ctrl, ioccsz) - 1792usize];
    ["Offset of field: nvme_id_ctrl::iorcsz"]
        [::core::mem::offset_of!(nvme_id_ctrl, iorcsz) - 1796usize];
    ["Offset of field: nvme_id_ctrl::icdoff"]
        [::core::mem::offset_of!(nvme_id_ctrl, icdoff) - 1800usize];
    ["Offset of field: nvme_id_ctrl::fcatt"]
        [::core::mem::offset_of!(nvme_id_ctrl, fcatt) - 1802usize];
    ["Offset of field: nvme_id_ctrl::msdbd"]
        [::core::mem::offset_of!(nvme_id_ctrl, msdbd) - 1803usize];
    ["Offset of field: nvme_id_ctrl::ofcs"]
        [::core::mem::offset_of!(nvme_id_ctrl, ofcs) - 1804usize];
    ["Offset of field: nvme_id_ctrl::dctype"]
        [::core::mem::offset_of!(nvme_id_ctrl, dctype) - 1806usize];
    ["Offset of field: nvme_id_ctrl::rsvd1807"]
        [::core::mem::offset_of!(nvme_id_ctrl, rsvd1807) - 1807usize];
    ["Offset of field: nvme_id_ctrl::psd"][::core::mem::offset_of!(nvme_id_ctrl, psd) - 2048usize];
    ["Offset of field: nvme_id_ctrl::vs"][::core::mem::offset_of!(nvme_id_ctrl, vs) - 3072usize];
};
impl Default for nvme_id_ctrl {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
pub const NVME_CTRL_CMIC_MULTI_PORT: nvme_id_ctrl_cmic = 1;
pub const NVME_CTRL_CMIC_MULTI_CTRL: nvme_id_ctrl_cmic = 2;
pub const NVME_CTRL_CMIC_MULTI_SRIOV: nvme_id_ctrl_cmic = 4;
pub const NVME_CTRL_CMIC_MULTI_ANA_REPORTING: nvme_id_ctrl_cmic = 8;
pub type nvme_id_ctrl_cmic = ::core::ffi::c_uint;
pub const NVME_CTRL_ONCS_COMPARE: nvme_id_ctrl_oncs = 1;
pub const NVME_CTRL_ONCS_WRITE_UNCORRECTABLE: nvme_id_ctrl_oncs = 2;
pub const NVME_CTRL_ONCS_DSM: nvme_id_ctrl_oncs = 4;
pub const NVME_CTRL_ONCS_WRITE_ZEROES: nvme_id_ctrl_oncs = 8;
pub const NVME_CTRL_ONCS_SAVE_FEATURES: nvme_id_ctrl_oncs = 16;
pub const NVME_CTRL_ONCS_RESERVATIONS: nvme_id_ctrl_oncs = 32;
pub const NVME_CTRL_ONCS_TIMESTAMP: nvme_id_ctrl_oncs = 64;
pub const NVME_CTRL_ONCS_VERIFY: nvme_id_ctrl_oncs = 128;
pub const NVME_CTRL_ONCS_COPY: nvme_id_ctrl_oncs = 256;
pub const NVME_CTRL_ONCS_COPY_SINGLE_ATOMICITY: nvme_id_ctrl_oncs = 512;
pub const NVME_CTRL_ONCS_ALL_FAST_COPY: nvme_id_ctrl_oncs = 1024;
pub const NVME_CTRL_ONCS_WRITE_ZEROES_DEALLOCATE: nvme_id_ctrl_oncs = 2048;
pub const NVME_CTRL_ONCS_NAMESPACE_ZEROES: nvme_id_ctrl_oncs = 4096;
pub type nvme_id_ctrl_oncs = ::core::ffi::c_uint;
pub const NVME_CTRL_VWC_PRESENT: nvme_id_ctrl_vwc = 1;
pub const NVME_CTRL_VWC_FLUSH: nvme_id_ctrl_vwc = 6;
pub type nvme_id_ctrl_vwc = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Default, Copy, Clone)]
pub struct nvme_lbaf {
    pub ms: __le16,
    pub ds: __u8,
    pub rp: __u8,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of nvme_lbaf"][::core::mem::size_of::<nvme_lbaf>() - 4usize];
    ["Alignment of nvme_lbaf"][::core::mem::align_of::<nvme_lbaf>() - 2usize];
    ["Offset of field: nvme_lbaf::ms"][::core::mem::offset_of!(nvme_lbaf, ms) - 0usize];
    ["Offset of field: nvme_lbaf::ds"][::core::mem::offset_of!(nvme_lbaf, ds) - 2usize];
    ["Offset of field: nvme_lbaf::rp"][::core::mem::offset_of!(nvme_lbaf, rp) - 3usize];
};
#[repr(C)]
#[derive(Copy, Clone)]
pub struct nvme_id_ns {
    pub nsze: __le64,
    pub ncap: __le64,
    pub nuse: __le64,
    pub nsfeat: __u8,
    pub nlbaf: __u8,
    pub flbas: __u8,
    pub mc: __u8,
    pub dpc: __u8,
    pub dps: __u8,
    pub nmic: __u8,
    pub rescap: __u8,
    pub fpi: __u8,
    pub dlfeat: __u8,
    pub nawun: __le16,
    pub nawupf: __le16,
    pub nacwu: __le16,
    pub nabsn: __le16,
    pub nabo: __le16,
    pub nabspf: __le16,
    pub noiob: __le16,
    pub nvmcap: [__u8; 16usize],
    pub npwg: __le16,
    pub npwa: __le16,
    pub npdg: __le16,
    pub npda: __le16,
    pub nows: __le16,
    pub mssrl: __le16,
    pub mcl: __le32,
    pub msrc: __u8,
    pub kpios: __u8,
    pub nulbaf: __u8,
    pub rsvd83: __u8,
    pub kpiodaag: __le32,
    pub rsvd88: [__u8; 4usize],
    pub anagrpid: __le32,
    pub rsvd96: [__u8; 3usize],
    pub nsattr: __u8,
    pub nvmsetid: __le16,
    pub endgid: __le16,
    pub nguid: [__u8; 16usize],
    pub eui64: [__u8; 8usize],
    pub lbaf: [nvme_lbaf; 64usize],
    pub vs: [__u8; 3712usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of nvme_id_ns"][::core::mem::size_of::<nvme_id_ns>() - 4096usize];
    ["Alignment of nvme_id_ns"][::core::mem::align_of::<nvme_id_ns>() - 8usize];
    ["Offset of field: nvme_id_ns::nsze"][::core::mem::offset_of!(nvme_id_ns, nsze) - 0usize];
    ["Offset of field: nvme_id_ns::ncap"][::core::mem::offset_of!(nvme_id_ns, ncap) - 8usize];
    ["Offset of field: nvme_id_ns::nuse"][::core::mem::offset_of!(nvme_id_ns, nuse) - 16usize];
    ["Offset of field: nvme_id_ns::nsfeat"][::core::mem::offset_of!(nvme_id_ns, nsfeat) - 24usize];
    ["Offset of field: nvme_id_ns::nlbaf"][::core::mem::offset_of!(nvme_id_ns, nlbaf) - 25usize];
    ["Offset of field: nvme_id_ns::flbas"][::core::mem::offset_of!(nvme_id_ns, flbas) - 26usize];
    ["Offset of field: nvme_id_ns::mc"][::core::mem::offset_of!(nvme_id_ns, mc) - 27usize];
    ["Offset of field: nvme_id_ns::dpc"][::core::mem::offset_of!(nvme_id_ns, dpc) - 28usize];
    ["Offset of field: nvme_id_ns::dps"][::core::mem::offset_of!(nvme_id_ns, dps) - 29usize];
    ["Offset of field: nvme_id_ns::nmic"][::core::mem::offset_of!(nvme_id_ns, nmic) - 30usize];
    ["Offset of field: nvme_id_ns::rescap"][::core::mem::offset_of!(nvme_id_ns, rescap) - 31usize];
    ["Offset of field: nvme_id_ns::fpi"][::core::mem::offset_of!(nvme_id_ns, fpi) - 32usize];
    ["Offset of field: nvme_id_ns::dlfeat"][::core::mem::offset_of!(nvme_id_ns, dlfeat) - 33usize];
    ["Offset of field: nvme_id_ns::nawun"][::core::mem::offset_of!(nvme_id_ns, nawun) - 34usize];
    ["Offset of field: nvme_id_ns::nawupf"][::core::mem::offset_of!(nvme_id_ns, nawupf) - 36usize];
    ["Offset of field: nvme_id_ns::nacwu"][::core::mem::offset_of!(nvme_id_ns, nacwu) - 38usize];
    ["Offset of field: nvme_id_ns::nabsn"][::core::mem::offset_of!(nvme_id_ns, nabsn) - 40usize];
    ["Offset of field: nvme_id_ns::nabo"][::core::mem::offset_of!(nvme_id_ns, nabo) - 42usize];
    ["Offset of field: nvme_id_ns::nabspf"][::core::mem::offset_of!(nvme_id_ns, nabspf) - 44usize];
    ["Offset of field: nvme_id_ns::noiob"][::core::mem::offset_of!(nvme_id_ns, noiob) - 46usize];
    ["Offset of field: nvme_id_ns::nvmcap"][::core::mem::offset_of!(nvme_id_ns, nvmcap) - 48usize];
    ["Offset of field: nvme_id_ns::npwg"][::core::mem::offset_of!(nvme_id_ns, npwg) - 64usize];
    ["Offset of field: nvme_id_ns::npwa"][::core::mem::offset_of!(nvme_id_ns, npwa) - 66usize];
    ["Offset of field: nvme_id_ns::npdg"][::core::mem::offset_of!(nvme_id_ns, npdg) - 68usize];
    ["Offset of field: nvme_id_ns::npda"][::core::mem::offset_of!(nvme_id_ns, npda) - 70usize];
    ["Offset of field: nvme_id_ns::nows"][::core::mem::offset_of!(nvme_id_ns, nows) - 72usize];
    ["Offset of field: nvme_id_ns::mssrl"][::core::mem::offset_of!(nvme_id_ns, mssrl) - 74usize];
    ["Offset of field: nvme_id_ns::mcl"][::core::mem::offset_of!(nvme_id_ns, mcl) - 76usize];
    ["Offset of field: nvme_id_ns::msrc"][::core::mem::offset_of!(nvme_id_ns, msrc) - 80usize];
    ["Offset of field: nvme_id_ns::kpios"][::core::mem::offset_of!(nvme_id_ns, kpios) - 81usize];
    ["Offset of field: nvme_id_ns::nulbaf"][::core::mem::offset_of!(nvme_id_ns, nulbaf) - 82usize];
    ["Offset of field: nvme_id_ns::rsvd83"][::core::mem::offset_of!(nvme_id_ns, rsvd83) - 83usize];
    ["Offset of field: nvme_id_ns::kpiodaag"]
        [::core::mem::offset_of!(nvme_id_ns, kpiodaag) - 84usize];
    ["Offset of field: nvme_id_ns::rsvd88"][::core::mem::offset_of!(nvme_id_ns, rsvd88) - 88usize];
    ["Offset of field: nvme_id_ns::anagrpid"]
        [::core::mem::offset_of!(nvme_id_ns, anagrpid) - 92usize];
    ["Offset of field: nvme_id_ns::rsvd96"][::core::mem::offset_of!(nvme_id_ns, rsvd96) - 96usize];
    ["Offset of field: nvme_id_ns::nsattr"][::core::mem::offset_of!(nvme_id_ns, nsattr) - 99usize];
    ["Offset of field: nvme_id_ns::nvmsetid"]
        [::core::mem::offset_of!(nvme_id_ns, nvmsetid) - 100usize];
    ["Offset of field: nvme_id_ns::endgid"][::core::mem::offset_of!(nvme_id_ns, endgid) - 102usize];
    ["Offset of field: nvme_id_ns::nguid"][::core::mem::offset_of!(nvme_id_ns, nguid) - 104usize];
    ["Offset of field: nvme_id_ns::eui64"][::core::mem::offset_of!(nvme_id_ns, eui64) - 120usize];
    ["Offset of field: nvme_id_ns::lbaf"][::core::mem::offset_of!(nvme_id_ns, lbaf) - 128usize];
    ["Offset of field: nvme_id_ns::vs"][::core::mem::offset_of!(nvme_id_ns, vs) - 384usize];
};
impl Default for nvme_id_ns {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
pub const NVME_NS_FEAT_THIN: nvme_id_nsfeat = 1;
pub const NVME_NS_FEAT_NATOMIC: nvme_id_nsfeat = 2;
pub const NVME_NS_FEAT_DULBE: nvme_id_nsfeat = 4;
pub const NVME_NS_FEAT_ID_REUSE: nvme_id_nsfeat = 8;
pub const NVME_NS_FEAT_IO_OPT: nvme_id_nsfeat = 48;
pub type nvme_id_nsfeat = ::core::ffi::c_uint;
pub const NVME_NS_FLBAS_LOWER_MASK: nvme_id_ns_flbas = 15;
pub const NVME_NS_FLBAS_META_EXT: nvme_id_ns_flbas = 16;
pub const NVME_NS_FLBAS_HIGHER_MASK: nvme_id_ns_flbas = 96;
pub type nvme_id_ns_flbas = ::core::ffi::c_uint;
pub const NVME_NS_NMIC_SHARED: nvme_id_ns_nmic = 1;
pub type nvme_id_ns_nmic = ::core::ffi::c_uint;
pub const NVME_NS_DLFEAT_RB: nvme_id_ns_dlfeat = 7;
pub const NVME_NS_DLFEAT_RB_NR: nvme_id_ns_dlfeat = 0;
pub const NVME_NS_DLFEAT_RB_ALL_0S: nvme_id_ns_dlfeat = 1;
pub const NVME_NS_DLFEAT_RB_ALL_FS: nvme_id_ns_dlfeat = 2;
pub const NVME_NS_DLFEAT_WRITE_ZEROES: nvme_id_ns_dlfeat = 8;
pub const NVME_NS_DLFEAT_CRC_GUARD: nvme_id_ns_dlfeat = 16;
pub type nvme_id_ns_dlfeat = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct nvme_id_independent_id_ns {
    pub nsfeat: __u8,
    pub nmic: __u8,
    pub rescap: __u8,
    pub fpi: __u8,
    pub anagrpid: __le32,
    pub nsattr: __u8,
    pub rsvd9: __u8,
    pub nvmsetid: __le16,
    pub endgid: __le16,
    pub nstat: __u8,
    pub kpios: __u8,
    pub maxkt: __le16,
    pub rsvd18: [__u8; 2usize],
    pub rgrpid: __le32,
    pub rsvd24: [__u8; 4072usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of nvme_id_independent_id_ns"]
        [::core::mem::size_of::<nvme_id_independent_id_ns>() - 4096usize];
    ["Alignment of nvme_id_independent_id_ns"]
        [::core::mem::align_of::<nvme_id_independent_id_ns>() - 4usize];
    ["Offset of field: nvme_id_independent_id_ns::nsfeat"]
        [::core::mem::offset_of!(nvme_id_independent_id_ns, nsfeat) - 0usize];
    ["Offset of field: nvme_id_independent_id_ns::nmic"]
        [::core::mem::offset_of!(nvme_id_independent_id_ns, nmic) - 1usize];
    ["Offset of field: nvme_id_independent_id_ns::rescap"]
        [::core::mem::offset_of!(nvme_id_independent_id_ns, rescap) - 2usize];
    ["Offset of field: nvme_id_independent_id_ns::fpi"]
        [::core::mem::offset_of!(nvme_id_independent_id_ns, fpi) - 3usize];
    ["Offset of field: nvme_id_independent_id_ns::anagrpid"]
        [::core::mem::offset_of!(nvme_id_independent_id_ns, anagrpid) - 4usize];
    ["Offset of field: nvme_id_independent_id_ns::nsattr"]
        [::core::mem::offset_of!(nvme_id_independent_id_ns, nsattr) - 8usize];
    ["Offset of field: nvme_id_independent_id_ns::rsvd9"]
        [::core::mem::offset_of!(nvme_id_independent_id_ns, rsvd9) - 9usize];
    ["Offset of field: nvme_id_independent_id_ns::nvmsetid"]
        [::core::mem::offset_of!(nvme_id_independent_id_ns, nvmsetid) - 10usize];
    ["Offset of field: nvme_id_independent_id_ns::endgid"]
        [::core::mem::offset_of!(nvme_id_independent_id_ns, endgid) - 12usize];
    ["Offset of field: nvme_id_independent_id_ns::nstat"]
        [::core::mem::offset_of!(nvme_id_independent_id_ns, nstat) - 14usize];
    ["Offset of field: nvme_id_independent_id_ns::kpios"]
        [::core::mem::offset_of!(nvme_id_independent_id_ns, kpios) - 15usize];
    ["Offset of field: nvme_id_independent_id_ns::maxkt"]
        [::core::mem::offset_of!(nvme_id_independent_id_ns, maxkt) - 16usize];
    ["Offset of field: nvme_id_independent_id_ns::rsvd18"]
        [::core::mem::offset_of!(nvme_id_independent_id_ns, rsvd18) - 18usize];
    ["Offset of field: nvme_id_independent_id_ns::rgrpid"]
        [::core::mem::offset_of!(nvme_id_independent_id_ns, rgrpid) - 20usize];
    ["Offset of field: nvme_id_independent_id_ns::rsvd24"]
        [::core::mem::offset_of!(nvme_id_independent_id_ns, rsvd24) - 24usize];
};
impl Default for nvme_id_independent_id_ns {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct nvme_id_ctrl_nvm {
    pub vsl: __u8,
    pub wzsl: __u8,
    pub wusl: __u8,
    pub dmrl: __u8,
    pub dmrsl: __le32,
    pub dmsl: __le64,
    pub kpiocap: __u8,
    pub wzdsl: __u8,
    pub aocs: __le16,
    pub ver: __le32,
    pub lbamqf: __u8,
    pub rsvd25: [__u8; 4071usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of nvme_id_ctrl_nvm"][::core::mem::size_of::<nvme_id_ctrl_nvm>() - 4096usize];
    ["Alignment of nvme_id_ctrl_nvm"][::core::mem::align_of::<nvme_id_ctrl_nvm>() - 8usize];
    ["Offset of field: nvme_id_ctrl_nvm::vsl"]
        [::core::mem::offset_of!(nvme_id_ctrl_nvm, vsl) - 0usize];
    ["Offset of field: nvme_id_ctrl_nvm::wzsl"]
        [::core::mem::offset_of!(nvme_id_ctrl_nvm, wzsl) - 1usize];
    ["Offset of field: nvme_id_ctrl_nvm::wusl"]
        [::core::mem::offset_of!(nvme_id_ctrl_nvm, wusl) - 2usize];
    ["Offset of field: nvme_id_ctrl_nvm::dmrl"]
        [::core::mem::offset_of!(nvme_id_ctrl_nvm, dmrl) - 3usize];
    ["Offset of field: nvme_id_ctrl_nvm::dmrsl"]
        [::core::mem::offset_of!(nvme_id_ctrl_nvm, dmrsl) - 4usize];
    ["Offset of field: nvme_id_ctrl_nvm::dmsl"]
        [::core::mem::offset_of!(nvme_id_ctrl_nvm, dmsl) - 8usize];
    ["Offset of field: nvme_id_ctrl_nvm::kpiocap"]
        [::core::mem::offset_of!(nvme_id_ctrl_nvm, kpiocap) - 16usize];
    ["Offset of field: nvme_id_ctrl_nvm::wzdsl"]
        [::core::mem::offset_of!(nvme_id_ctrl_nvm, wzdsl) - 17usize];
    ["Offset of field: nvme_id_ctrl_nvm::aocs"]
        [::core::mem::offset_of!(nvme_id_ctrl_nvm, aocs) - 18usize];
    ["Offset of field: nvme_id_ctrl_nvm::ver"]
        [::core::mem::offset_of!(nvme_id_ctrl_nvm, ver) - 20usize];
    ["Offset of field: nvme_id_ctrl_nvm::lbamqf"]
        [::core::mem::offset_of!(nvme_id_ctrl_nvm, lbamqf) - 24usize];
    ["Offset of field: nvme_id_ctrl_nvm::rsvd25"]
        [::core::mem::offset_of!(nvme_id_ctrl_nvm, rsvd25) - 25usize];
};
impl Default for nvme_id_ctrl_nvm {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct nvme_nvm_id_ns {
    pub lbstm: __le64,
    pub pic: __u8,
    pub pifa: __u8,
    pub rsvd10: [__u8; 2usize],
    pub elbaf: [__le32; 64usize],
    pub npdgl: __le32,
    pub nprg: __le32,
    pub npra: __le32,
    pub nors: __le32,
    pub npdal: __le32,
    pub lbapss: __le32,
    pub tlbaag: __le32,
    pub rsvd296: [__u8; 3800usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of nvme_nvm_id_ns"][::core::mem::size_of::<nvme_nvm_id_ns>() - 4096usize];
    ["Alignment of nvme_nvm_id_ns"][::core::mem::align_of::<nvme_nvm_id_ns>() - 8usize];
    ["Offset of field: nvme_nvm_id_ns::lbstm"]
        [::core::mem::offset_of!(nvme_nvm_id_ns, lbstm) - 0usize];
    ["Offset of field: nvme_nvm_id_ns::pic"][::core::mem::offset_of!(nvme_nvm_id_ns, pic) - 8usize];
    ["Offset of field: nvme_nvm_id_ns::pifa"]
        [::core::mem::offset_of!(nvme_nvm_id_ns, pifa) - 9usize];
    ["Offset of field: nvme_nvm_id_ns::rsvd10"]
        [::core::mem::offset_of!(nvme_nvm_id_ns, rsvd10) - 10usize];
    ["Offset of field: nvme_nvm_id_ns::elbaf"]
        [::core::mem::offset_of!(nvme_nvm_id_ns, elbaf) - 12usize];
    ["Offset of field: nvme_nvm_id_ns::npdgl"]
        [::core::mem::offset_of!(nvme_nvm_id_ns, npdgl) - 268usize];
    ["Offset of field: nvme_nvm_id_ns::nprg"]
        [::core::mem::offset_of!(nvme_nvm_id_ns, nprg) - 272usize];
    ["Offset of field: nvme_nvm_id_ns::npra"]
        [::core::mem::offset_of!(nvme_nvm_id_ns, npra) - 276usize];
    ["Offset of field: nvme_nvm_id_ns::nors"]
        [::core::mem::offset_of!(nvme_nvm_id_ns, nors) - 280usize];
    ["Offset of field: nvme_nvm_id_ns::npdal"]
        [::core::mem::offset_of!(nvme_nvm_id_ns, npdal) - 284usize];
    ["Offset of field: nvme_nvm_id_ns::lbapss"]
        [::core::mem::offset_of!(nvme_nvm_id_ns, lbapss) - 288usize];
    ["Offset of field: nvme_nvm_id_ns::tlbaag"]
        [::core::mem::offset_of!(nvme_nvm_id_ns, tlbaag) - 292usize];
    ["Offset of field: nvme_nvm_id_ns::rsvd296"]
        [::core::mem::offset_of!(nvme_nvm_id_ns, rsvd296) - 296usize];
};
impl Default for nvme_nvm_id_ns {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
pub const nvme_admin_identify: nvme_admin_opcode = 6;
pub type nvme_admin_opcode = ::core::ffi::c_uint;
pub const NVME_IDENTIFY_CNS_NS: nvme_identify_cns = 0;
pub const NVME_IDENTIFY_CNS_CTRL: nvme_identify_cns = 1;
pub const NVME_IDENTIFY_CNS_NS_ACTIVE_LIST: nvme_identify_cns = 2;
pub const NVME_IDENTIFY_CNS_NS_DESC_LIST: nvme_identify_cns = 3;
pub const NVME_IDENTIFY_CNS_NVMSET_LIST: nvme_identify_cns = 4;
pub const NVME_IDENTIFY_CNS_CSI_NS: nvme_identify_cns = 5;
pub const NVME_IDENTIFY_CNS_CSI_CTRL: nvme_identify_cns = 6;
pub const NVME_IDENTIFY_CNS_CSI_NS_ACTIVE_LIST: nvme_identify_cns = 7;
pub const NVME_IDENTIFY_CNS_CSI_INDEPENDENT_ID_NS: nvme_identify_cns = 8;
pub const NVME_IDENTIFY_CNS_NS_USER_DATA_FORMAT: nvme_identify_cns = 9;
pub const NVME_IDENTIFY_CNS_CSI_NS_USER_DATA_FORMAT: nvme_identify_cns = 10;
pub const NVME_IDENTIFY_CNS_ALLOCATED_NS_LIST: nvme_identify_cns = 16;
pub const NVME_IDENTIFY_CNS_ALLOCATED_NS: nvme_identify_cns = 17;
pub const NVME_IDENTIFY_CNS_NS_CTRL_LIST: nvme_identify_cns = 18;
pub const NVME_IDENTIFY_CNS_CTRL_LIST: nvme_identify_cns = 19;
pub const NVME_IDENTIFY_CNS_PRIMARY_CTRL_CAP: nvme_identify_cns = 20;
pub const NVME_IDENTIFY_CNS_SECONDARY_CTRL_LIST: nvme_identify_cns = 21;
pub const NVME_IDENTIFY_CNS_NS_GRANULARITY: nvme_identify_cns = 22;
pub const NVME_IDENTIFY_CNS_UUID_LIST: nvme_identify_cns = 23;
pub const NVME_IDENTIFY_CNS_DOMAIN_LIST: nvme_identify_cns = 24;
pub const NVME_IDENTIFY_CNS_ENDURANCE_GROUP_ID: nvme_identify_cns = 25;
pub const NVME_IDENTIFY_CNS_CSI_ALLOCATED_NS_LIST: nvme_identify_cns = 26;
pub const NVME_IDENTIFY_CNS_CSI_ID_NS_DATA_STRUCTURE: nvme_identify_cns = 27;
pub const NVME_IDENTIFY_CNS_COMMAND_SET_STRUCTURE: nvme_identify_cns = 28;
pub const NVME_IDENTIFY_CNS_UNDERLYING_NS_LIST: nvme_identify_cns = 29;
pub const NVME_IDENTIFY_CNS_PORTS_LIST: nvme_identify_cns = 30;
pub const NVME_IDENTIFY_CNS_IOCS_IND_ID_ALLOC_NS: nvme_identify_cns = 31;
pub const NVME_IDENTIFY_CNS_SUPPORTED_CTRL_STATE_FORMATS: nvme_identify_cns = 32;
pub type nvme_identify_cns = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Default, Copy, Clone)]
pub struct nvme_passthru_cmd {
    pub opcode: __u8,
    pub flags: __u8,
    pub rsvd1: __u16,
    pub nsid: __u32,
    pub cdw2: __u32,
    pub cdw3: __u32,
    pub metadata: __u64,
    pub addr: __u64,
    pub metadata_len: __u32,
    pub data_len: __u32,
    pub cdw10: __u32,
    pub cdw11: __u32,
    pub cdw12: __u32,
    pub cdw13: __u32,
    pub cdw14: __u32,
    pub cdw15: __u32,
    pub timeout_ms: __u32,
    pub result: __u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of nvme_passthru_cmd"][::core::mem::size_of::<nvme_passthru_cmd>() - 72usize];
    ["Alignment of nvme_passthru_cmd"][::core::mem::align_of::<nvme_passthru_cmd>() - 8usize];
    ["Offset of field: nvme_passthru_cmd::opcode"]
        [::core::mem::offset_of!(nvme_passthru_cmd, opcode) - 0usize];
    ["Offset of field: nvme_passthru_cmd::flags"]
        [::core::mem::offset_of!(nvme_passthru_cmd, flags) - 1usize];
    ["Offset of field: nvme_passthru_cmd::rsvd1"]
        [::core::mem::offset_of!(nvme_passthru_cmd, rsvd1) - 2usize];
    ["Offset of field: nvme_passthru_cmd::nsid"]
        [::core::mem::offset_of!(nvme_passthru_cmd, nsid) - 4usize];
    ["Offset of field: nvme_passthru_cmd::cdw2"]
        [::core::mem::offset_of!(nvme_passthru_cmd, cdw2) - 8usize];
    ["Offset of field: nvme_passthru_cmd::cdw3"]
        [::core::mem::offset_of!(nvme_passthru_cmd, cdw3) - 12usize];
    ["Offset of field: nvme_passthru_cmd::metadata"]
        [::core::mem::offset_of!(nvme_passthru_cmd, metadata) - 16usize];
    ["Offset of field: nvme_passthru_cmd::addr"]
        [::core::mem::offset_of!(nvme_passthru_cmd, addr) - 24usize];
    ["Offset of field: nvme_passthru_cmd::metadata_len"]
        [::core::mem::offset_of!(nvme_passthru_cmd, metadata_len) - 32usize];
    ["Offset of field: nvme_passthru_cmd::data_len"]
        [::core::mem::offset_of!(nvme_passthru_cmd, data_len) - 36usize];
    ["Offset of field: nvme_passthru_cmd::cdw10"]
        [::core::mem::offset_of!(nvme_passthru_cmd, cdw10) - 40usize];
    ["Offset of field: nvme_passthru_cmd::cdw11"]
        [::core::mem::offset_of!(nvme_passthru_cmd, cdw11) - 44usize];
    ["Offset of field: nvme_passthru_cmd::cdw12"]
        [::core::mem::offset_of!(nvme_passthru_cmd, cdw12) - 48usize];
    ["Offset of field: nvme_passthru_cmd::cdw13"]
        [::core::mem::offset_of!(nvme_passthru_cmd, cdw13) - 52usize];
    ["Offset of field: nvme_passthru_cmd::cdw14"]
        [::core::mem::offset_of!(nvme_passthru_cmd, cdw14) - 56usize];
    ["Offset of field: nvme_passthru_cmd::cdw15"]
        [::core::mem::offset_of!(nvme_passthru_cmd, cdw15) - 60usize];
    ["Offset of field: nvme_passthru_cmd::timeout_ms"]
        [::core::mem::offset_of!(nvme_passthru_cmd, timeout_ms) - 64usize];
    ["Offset of field: nvme_passthru_cmd::result"]
        [::core::mem::offset_of!(nvme_passthru_cmd, result) - 68usize];
};
#[repr(C)]
#[derive(Copy, Clone)]
pub struct nvme_passthru_cmd64 {
    pub opcode: __u8,
    pub flags: __u8,
    pub rsvd1: __u16,
    pub nsid: __u32,
    pub cdw2: __u32,
    pub cdw3: __u32,
    pub metadata: __u64,
    pub addr: __u64,
    pub metadata_len: __u32,
    pub __bindgen_anon_1: nvme_passthru_cmd64__bindgen_ty_1,
    pub cdw10: __u32,
    pub cdw11: __u32,
    pub cdw12: __u32,
    pub cdw13: __u32,
    pub cdw14: __u32,
    pub cdw15: __u32,
    pub timeout_ms: __u32,
    pub rsvd2: __u32,
    pub result: __u64,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub union nvme_passthru_cmd64__bindgen_ty_1 {
    pub data_len: __u32,
    pub vec_cnt: __u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of nvme_passthru_cmd64__bindgen_ty_1"]
        [::core::mem::size_of::<nvme_passthru_cmd64__bindgen_ty_1>() - 4usize];
    ["Alignment of nvme_passthru_cmd64__bindgen_ty_1"]
        [::core::mem::align_of::<nvme_passthru_cmd64__bindgen_ty_1>() - 4usize];
    ["Offset of field: nvme_passthru_cmd64__bindgen_ty_1::data_len"]
        [::core::mem::offset_of!(nvme_passthru_cmd64__bindgen_ty_1, data_len) - 0usize];
    ["Offset of field: nvme_passthru_cmd64__bindgen_ty_1::vec_cnt"]
        [::core::mem::offset_of!(nvme_passthru_cmd64__bindgen_ty_1, vec_cnt) - 0usize];
};
impl Default for nvme_passthru_cmd64__bindgen_ty_1 {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of nvme_passthru_cmd64"][::core::mem::size_of::<nvme_passthru_cmd64>() - 80usize];
    ["Alignment of nvme_passthru_cmd64"][::core::mem::align_of::<nvme_passthru_cmd64>() - 8usize];
    ["Offset of field: nvme_passthru_cmd64::opcode"]
        [::core::mem::offset_of!(nvme_passthru_cmd64, opcode) - 0usize];
    ["Offset of field: nvme_passthru_cmd64::flags"]
        [::core::mem::offset_of!(nvme_passthru_cmd64, flags) - 1usize];
    ["Offset of field: nvme_passthru_cmd64::rsvd1"]
        [::core::mem::offset_of!(nvme_passthru_cmd64, rsvd1) - 2usize];
    ["Offset of field: nvme_passthru_cmd64::nsid"]
        [::core::mem::offset_of!(nvme_passthru_cmd64, nsid) - 4usize];
    ["Offset of field: nvme_passthru_cmd64::cdw2"]
        [::core::mem::offset_of!(nvme_passthru_cmd64, cdw2) - 8usize];
    ["Offset of field: nvme_passthru_cmd64::cdw3"]
        [::core::mem::offset_of!(nvme_passthru_cmd64, cdw3) - 12usize];
    ["Offset of field: nvme_passthru_cmd64::metadata"]
        [::core::mem::offset_of!(nvme_passthru_cmd64, metadata) - 16usize];
    ["Offset of field: nvme_passthru_cmd64::addr"]
        [::core::mem::offset_of!(nvme_passthru_cmd64, addr) - 24usize];
    ["Offset of field: nvme_passthru_cmd64::metadata_len"]
        [::core::mem::offset_of!(nvme_passthru_cmd64, metadata_len) - 32usize];
    ["Offset of field: nvme_passthru_cmd64::cdw10"]
        [::core::mem::offset_of!(nvme_passthru_cmd64, cdw10) - 40usize];
    ["Offset of field: nvme_passthru_cmd64::cdw11"]
        [::core::mem::offset_of!(nvme_passthru_cmd64, cdw11) - 44usize];
    ["Offset of field: nvme_passthru_cmd64::cdw12"]
        [::core::mem::offset_of!(nvme_passthru_cmd64, cdw12) - 48usize];
    ["Offset of field: nvme_passthru_cmd64::cdw13"]
        [::core::mem::offset_of!(nvme_passthru_cmd64, cdw13) - 52usize];
    ["Offset of field: nvme_passthru_cmd64::cdw14"]
        [::core::mem::offset_of!(nvme_passthru_cmd64, cdw14) - 56usize];
    ["Offset of field: nvme_passthru_cmd64::cdw15"]
        [::core::mem::offset_of!(nvme_passthru_cmd64, cdw15) - 60usize];
    ["Offset of field: nvme_passthru_cmd64::timeout_ms"]
        [::core::mem::offset_of!(nvme_passthru_cmd64, timeout_ms) - 64usize];
    ["Offset of field: nvme_passthru_cmd64::rsvd2"]
        [::core::mem::offset_of!(nvme_passthru_cmd64, rsvd2) - 68usize];
    ["Offset of field: nvme_passthru_cmd64::result"]
        [::core::mem::offset_of!(nvme_passthru_cmd64, result) - 72usize];
};
impl Default for nvme_passthru_cmd64 {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct sg_io_hdr {
    pub interface_id: ::core::ffi::c_int,
    pub dxfer_direction: ::core::ffi::c_int,
    pub cmd_len: ::core::ffi::c_uchar,
    pub mx_sb_len: ::core::ffi::c_uchar,
    pub iovec_count: ::core::ffi::c_ushort,
    pub dxfer_len: ::core::ffi::c_uint,
    pub dxferp: *mut ::core::ffi::c_void,
    pub cmdp: *mut ::core::ffi::c_uchar,
    pub sbp: *mut ::core::ffi::c_uchar,
    pub timeout: ::core::ffi::c_uint,
    pub flags: ::core::ffi::c_uint,
    pub pack_id: ::core::ffi::c_int,
    pub usr_ptr: *mut ::core::ffi::c_void,
    pub status: ::core::ffi::c_uchar,
    pub masked_status: ::core::ffi::c_uchar,
    pub msg_status: ::core::ffi::c_uchar,
    pub sb_len_wr: ::core::ffi::c_uchar,
    pub host_status: ::core::ffi::c_ushort,
    pub driver_status: ::core::ffi::c_ushort,
    pub resid: ::core::ffi::c_int,
    pub duration: ::core::ffi::c_uint,
    pub info: ::core::ffi::c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of sg_io_hdr"][::core::mem::size_of::<sg_io_hdr>() - 88usize];
    ["Alignment of sg_io_hdr"][::core::mem::align_of::<sg_io_hdr>() - 8usize];
    ["Offset of field: sg_io_hdr::interface_id"]
        [::core::mem::offset_of!(sg_io_hdr, interface_id) - 0usize];
    ["Offset of field: sg_io_hdr::dxfer_direction"]
        [::core::mem::offset_of!(sg_io_hdr, dxfer_direction) - 4usize];
    ["Offset of field: sg_io_hdr::cmd_len"][::core::mem::offset_of!(sg_io_hdr, cmd_len) - 8usize];
    ["Offset of field: sg_io_hdr::mx_sb_len"]
        [::core::mem::offset_of!(sg_io_hdr, mx_sb_len) - 9usize];
    ["Offset of field: sg_io_hdr::iovec_count"]
        [::core::mem::offset_of!(sg_io_hdr, iovec_count) - 10usize];
    ["Offset of field: sg_io_hdr::dxfer_len"]
        [::core::mem::offset_of!(sg_io_hdr, dxfer_len) - 12usize];
    ["Offset of field: sg_io_hdr::dxferp"][::core::mem::offset_of!(sg_io_hdr, dxferp) - 16usize];
    ["Offset of field: sg_io_hdr::cmdp"][::core::mem::offset_of!(sg_io_hdr, cmdp) - 24usize];
    ["Offset of field: sg_io_hdr::sbp"][::core::mem::offset_of!(sg_io_hdr, sbp) - 32usize];
    ["Offset of field: sg_io_hdr::timeout"][::core::mem::offset_of!(sg_io_hdr, timeout) - 40usize];
    ["Offset of field: sg_io_hdr::flags"][::core::mem::offset_of!(sg_io_hdr, flags) - 44usize];
    ["Offset of field: sg_io_hdr::pack_id"][::core::mem::offset_of!(sg_io_hdr, pack_id) - 48usize];
    ["Offset of field: sg_io_hdr::usr_ptr"][::core::mem::offset_of!(sg_io_hdr, usr_ptr) - 56usize];
    ["Offset of field: sg_io_hdr::status"][::core::mem::offset_of!(sg_io_hdr, status) - 64usize];
    ["Offset of field: sg_io_hdr::masked_status"]
        [::core::mem::offset_of!(sg_io_hdr, masked_status) - 65usize];
    ["Offset of field: sg_io_hdr::msg_status"]
        [::core::mem::offset_of!(sg_io_hdr, msg_status) - 66usize];
    ["Offset of field: sg_io_hdr::sb_len_wr"]
        [::core::mem::offset_of!(sg_io_hdr, sb_len_wr) - 67usize];
    ["Offset of field: sg_io_hdr::host_status"]
        [::core::mem::offset_of!(sg_io_hdr, host_status) - 68usize];
    ["Offset of field: sg_io_hdr::driver_status"]
        [::core::mem::offset_of!(sg_io_hdr, driver_status) - 70usize];
    ["Offset of field: sg_io_hdr::resid"][::core::mem::offset_of!(sg_io_hdr, resid) - 72usize];
    ["Offset of field: sg_io_hdr::duration"]
        [::core::mem::offset_of!(sg_io_hdr, duration) - 76usize];
    ["Offset of field: sg_io_hdr::info"][::core::mem::offset_of!(sg_io_hdr, info) - 80usize];
};
impl Default for sg_io_hdr {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Default, Copy, Clone)]
pub struct fsxattr {
    pub fsx_xflags: __u32,
    pub fsx_extsize: __u32,
    pub fsx_nextents: __u32,
    pub fsx_projid: __u32,
    pub fsx_cowextsize: __u32,
    pub fsx_pad: [::core::ffi::c_uchar; 8usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of fsxattr"][::core::mem::size_of::<fsxattr>() - 28usize];
    ["Alignment of fsxattr"][::core::mem::align_of::<fsxattr>() - 4usize];
    ["Offset of field: fsxattr::fsx_xflags"][::core::mem::offset_of!(fsxattr, fsx_xflags) - 0usize];
    ["Offset of field: fsxattr::fsx_extsize"]
        [::core::mem::offset_of!(fsxattr, fsx_extsize) - 4usize];
    ["Offset of field: fsxattr::fsx_nextents"]
        [::core::mem::offset_of!(fsxattr, fsx_nextents) - 8usize];
    ["Offset of field: fsxattr::fsx_projid"]
        [::core::mem::offset_of!(fsxattr, fsx_projid) - 12usize];
    ["Offset of field: fsxattr::fsx_cowextsize"]
        [::core::mem::offset_of!(fsxattr, fsx_cowextsize) - 16usize];
    ["Offset of field: fsxattr::fsx_pad"][::core::mem::offset_of!(fsxattr, fsx_pad) - 20usize];
};
#[repr(C)]
#[derive(Default, Copy, Clone)]
pub struct fiemap_extent {
    pub fe_logical: __u64,
    pub fe_physical: __u64,
    pub fe_length: __u64,
    pub fe_reserved64: [__u64; 2usize],
    pub fe_flags: __u32,
    pub fe_reserved: [__u32; 3usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of fiemap_extent"][::core::mem::size_of::<fiemap_extent>() - 56usize];
    ["Alignment of fiemap_extent"][::core::mem::align_of::<fiemap_extent>() - 8usize];
    ["Offset of field: fiemap_extent::fe_logical"]
        [::core::mem::offset_of!(fiemap_extent, fe_logical) - 0usize];
    ["Offset of field: fiemap_extent::fe_physical"]
        [::core::mem::offset_of!(fiemap_extent, fe_physical) - 8usize];
    ["Offset of field: fiemap_extent::fe_length"]
        [::core::mem::offset_of!(fiemap_extent, fe_length) - 16usize];
    ["Offset of field: fiemap_extent::fe_reserved64"]
        [::core::mem::offset_of!(fiemap_extent, fe_reserved64) - 24usize];
    ["Offset of field: fiemap_extent::fe_flags"]
        [::core::mem::offset_of!(fiemap_extent, fe_flags) - 40usize];
    ["Offset of field: fiemap_extent::fe_reserved"]
        [::core::mem::offset_of!(fiemap_extent, fe_reserved) - 44usize];
};
#[repr(C)]
#[derive(Copy, Clone)]
pub struct blkpg_ioctl_arg {
    pub op: ::core::ffi::c_int,
    pub flags: ::core::ffi::c_int,
    pub datalen: ::core::ffi::c_int,
    pub data: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of blkpg_ioctl_arg"][::core::mem::size_of::<blkpg_ioctl_arg>() - 24usize];
    ["Alignment of blkpg_ioctl_arg"][::core::mem::align_of::<blkpg_ioctl_arg>() - 8usize];
    ["Offset of field: blkpg_ioctl_arg::op"][::core::mem::offset_of!(blkpg_ioctl_arg, op) - 0usize];
    ["Offset of field: blkpg_ioctl_arg::flags"]
        [::core::mem::offset_of!(blkpg_ioctl_arg, flags) - 4usize];
    ["Offset of field: blkpg_ioctl_arg::datalen"]
        [::core::mem::offset_of!(blkpg_ioctl_arg, datalen) - 8usize];
    ["Offset of field: blkpg_ioctl_arg::data"]
        [::core::mem::offset_of!(blkpg_ioctl_arg, data) - 16usize];
};
impl Default for blkpg_ioctl_arg {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct blkpg_partition {
    pub start: ::core::ffi::c_longlong,
    pub length: ::core::ffi::c_longlong,
    pub pno: ::core::ffi::c_int,
    pub devname: [::core::ffi::c_char; 64usize],
    pub volname: [::core::ffi::c_char; 64usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of blkpg_partition"][::core::mem::size_of::<blkpg_partition>() - 152usize];
    ["Alignment of blkpg_partition"][::core::mem::align_of::<blkpg_partition>() - 8usize];
    ["Offset of field: blkpg_partition::start"]
        [::core::mem::offset_of!(blkpg_partition, start) - 0usize];
    ["Offset of field: blkpg_partition::length"]
        [::core::mem::offset_of!(blkpg_partition, length) - 8usize];
    ["Offset of field: blkpg_partition::pno"]
        [::core::mem::offset_of!(blkpg_partition, pno) - 16usize];
    ["Offset of field: blkpg_partition::devname"]
        [::core::mem::offset_of!(blkpg_partition, devname) - 20usize];
    ["Offset of field: blkpg_partition::volname"]
        [::core::mem::offset_of!(blkpg_partition, volname) - 84usize];
};
impl Default for blkpg_partition {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
pub const LO_FLAGS_READ_ONLY: _bindgen_ty_1 = 1;
pub const LO_FLAGS_AUTOCLEAR: _bindgen_ty_1 = 4;
pub const LO_FLAGS_PARTSCAN: _bindgen_ty_1 = 8;
pub const LO_FLAGS_DIRECT_IO: _bindgen_ty_1 = 16;
pub type _bindgen_ty_1 = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct loop_info64 {
    pub lo_device: __u64,
    pub lo_inode: __u64,
    pub lo_rdevice: __u64,
    pub lo_offset: __u64,
    pub lo_sizelimit: __u64,
    pub lo_number: __u32,
    pub lo_encrypt_type: __u32,
    pub lo_encrypt_key_size: __u32,
    pub lo_flags: __u32,
    pub lo_file_name: [__u8; 64usize],
    pub lo_crypt_name: [__u8; 64usize],
    pub lo_encrypt_key: [__u8; 32usize],
    pub lo_init: [__u64; 2usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of loop_info64"][::core::mem::size_of::<loop_info64>() - 232usize];
    ["Alignment of loop_info64"][::core::mem::align_of::<loop_info64>() - 8usize];
    ["Offset of field: loop_info64::lo_device"]
        [::core::mem::offset_of!(loop_info64, lo_device) - 0usize];
    ["Offset of field: loop_info64::lo_inode"]
        [::core::mem::offset_of!(loop_info64, lo_inode) - 8usize];
    ["Offset of field: loop_info64::lo_rdevice"]
        [::core::mem::offset_of!(loop_info64, lo_rdevice) - 16usize];
    ["Offset of field: loop_info64::lo_offset"]
        [::core::mem::offset_of!(loop_info64, lo_offset) - 24usize];
    ["Offset of field: loop_info64::lo_sizelimit"]
        [::core::mem::offset_of!(loop_info64, lo_sizelimit) - 32usize];
    ["Offset of field: loop_info64::lo_number"]
        [::core::mem::offset_of!(loop_info64, lo_number) - 40usize];
    ["Offset of field: loop_info64::lo_encrypt_type"]
        [::core::mem::offset_of!(loop_info64, lo_encrypt_type) - 44usize];
    ["Offset of field: loop_info64::lo_encrypt_key_size"]
        [::core::mem::offset_of!(loop_info64, lo_encrypt_key_size) - 48usize];
    ["Offset of field: loop_info64::lo_flags"]
        [::core::mem::offset_of!(loop_info64, lo_flags) - 52usize];
    ["Offset of field: loop_info64::lo_file_name"]
        [::core::mem::offset_of!(loop_info64, lo_file_name) - 56usize];
    ["Offset of field: loop_info64::lo_crypt_name"]
        [::core::mem::offset_of!(loop_info64, lo_crypt_name) - 120usize];
    ["Offset of field: loop_info64::lo_encrypt_key"]
        [::core::mem::offset_of!(loop_info64, lo_encrypt_key) - 184usize];
    ["Offset of field: loop_info64::lo_init"]
        [::core::mem::offset_of!(loop_info64, lo_init) - 216usize];
};
impl Default for loop_info64 {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct loop_config {
    pub fd: __u32,
    pub block_size: __u32,
    pub info: loop_info64,
    pub __reserved: [__u64; 8usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of loop_config"][::core::mem::size_of::<loop_config>() - 304usize];
    ["Alignment of loop_config"][::core::mem::align_of::<loop_config>() - 8usize];
    ["Offset of field: loop_config::fd"][::core::mem::offset_of!(loop_config, fd) - 0usize];
    ["Offset of field: loop_config::block_size"]
        [::core::mem::offset_of!(loop_config, block_size) - 4usize];
    ["Offset of field: loop_config::info"][::core::mem::offset_of!(loop_config, info) - 8usize];
    ["Offset of field: loop_config::__reserved"]
        [::core::mem::offset_of!(loop_config, __reserved) - 240usize];
};
impl Default for loop_config {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Default, Copy, Clone)]
pub struct landlock_ruleset_attr {
    pub handled_access_fs: __u64,
    pub handled_access_net: __u64,
    pub scoped: __u64,
    pub quiet_access_fs: __u64,
    pub quiet_access_net: __u64,
    pub quiet_scoped: __u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of landlock_ruleset_attr"][::core::mem::size_of::<landlock_ruleset_attr>() - 48usize];
    ["Alignment of landlock_ruleset_attr"]
        [::core::mem::align_of::<landlock_ruleset_attr>() - 8usize];
    ["Offset of field: landlock_ruleset_attr::handled_access_fs"]
        [::core::mem::offset_of!(landlock_ruleset_attr, handled_access_fs) - 0usize];
    ["Offset of field: landlock_ruleset_attr::handled_access_net"]
        [::core::mem::offset_of!(landlock_ruleset_attr, handled_access_net) - 8usize];
    ["Offset of field: landlock_ruleset_attr::scoped"]
        [::core::mem::offset_of!(landlock_ruleset_attr, scoped) - 16usize];
    ["Offset of field: landlock_ruleset_attr::quiet_access_fs"]
        [::core::mem::offset_of!(landlock_ruleset_attr, quiet_access_fs) - 24usize];
    ["Offset of field: landlock_ruleset_attr::quiet_access_net"]
        [::core::mem::offset_of!(landlock_ruleset_attr, quiet_access_net) - 32usize];
    ["Offset of field: landlock_ruleset_attr::quiet_scoped"]
        [::core::mem::offset_of!(landlock_ruleset_attr, quiet_scoped) - 40usize];
};
pub const LANDLOCK_RULE_PATH_BENEATH: landlock_rule_type = 1;
pub const LANDLOCK_RULE_NET_PORT: landlock_rule_type = 2;
pub type landlock_rule_type = ::core::ffi::c_uint;
#[repr(C, packed)]
#[derive(Default, Copy, Clone)]
pub struct landlock_path_beneath_attr {
    pub allowed_access: __u64,
    pub parent_fd: __s32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of landlock_path_beneath_attr"]
        [::core::mem::size_of::<landlock_path_beneath_attr>() - 12usize];
    ["Alignment of landlock_path_beneath_attr"]
        [::core::mem::align_of::<landlock_path_beneath_attr>() - 1usize];
    ["Offset of field: landlock_path_beneath_attr::allowed_access"]
        [::core::mem::offset_of!(landlock_path_beneath_attr, allowed_access) - 0usize];
    ["Offset of field: landlock_path_beneath_attr::parent_fd"]
        [::core::mem::offset_of!(landlock_path_beneath_attr, parent_fd) - 8usize];
};
