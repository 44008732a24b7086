//! The bits and values of NVMe fields that the program knows: NVM Express base and NVM command set specifications.

/// ONCS bit 3: Write Zeroes.
pub const ONCS_WRITE_ZEROES: u64 = 1 << 3;
/// ONCS bit 2: Dataset Management.
pub const ONCS_DSM: u64 = 1 << 2;
/// ONCS bit 11: Write Zeroes with deallocation has its own size limit (WZDSL).
pub const ONCS_MAXWZD: u64 = 1 << 11;
/// ONCS bit 12: Write Zeroes of the whole namespace with one command (NSZ).
pub const ONCS_NSZS: u64 = 1 << 12;
/// DLFEAT bits 2:0: what a deallocated block reads as.
pub const DLFEAT_READ_MASK: u64 = 0x7;
/// DLFEAT bits 2:0: not reported.
pub const DLFEAT_READ_NOT_REPORTED: u64 = 0;
/// DLFEAT bits 2:0: all bytes 00h.
pub const DLFEAT_READ_00: u64 = 1;
/// DLFEAT bits 2:0: all bytes FFh.
pub const DLFEAT_READ_FF: u64 = 2;
/// DLFEAT bit 3: the DEAC bit of Write Zeroes is supported.
pub const DLFEAT_DEAC: u64 = 1 << 3;
/// DLFEAT bit 4: the guard is the CRC of the read value.
pub const DLFEAT_GUARD_CRC: u64 = 1 << 4;
/// NSFEAT bit 4: NPWG, NPWA, NPDG, NPDA and NOWS are defined (OPTPERF, low bit).
pub const NSFEAT_OPTPERF: u64 = 1 << 4;
/// NSFEAT bit 5: NPDGL and NPDAL are defined (OPTPERF, high bit, from 2.1).
pub const NSFEAT_OPTPERF_LARGE: u64 = 1 << 5;
/// NMIC bit 0: the namespace may be attached to two or more controllers (NVM Command Set, Identify Namespace).
pub const NMIC_SHARED: u64 = 1;
/// NSFEAT bit 0: thin provisioning.
pub const NSFEAT_THIN: u64 = 1;
/// VWC bit 0: there is a volatile write cache.
pub const VWC_PRESENT: u64 = 1;
/// FLBAS bits 3:0: the low part of the format's index.
pub const FLBAS_LOW: u64 = 0xf;
/// FLBAS bits 6:5: the high part of the format's index.
pub const FLBAS_HIGH: u64 = 0x60;
/// VER of NVM Express 1.3, from where DLFEAT is defined.
pub const VER_1_3: u64 = 0x1_0300;
/// VER of NVM Express 2.1, from where OPTPERF has two bits.
pub const VER_2_1: u64 = 0x2_0100;
/// NSFEAT of CNS 08h, bit 5: no volatile write cache.
pub const NSFEAT_INDEPENDENT_NO_VWC: u64 = 1 << 5;
/// NSFEAT of CNS 08h, bit 4: rotational media.
pub const NSFEAT_INDEPENDENT_ROTATIONAL: u64 = 1 << 4;
