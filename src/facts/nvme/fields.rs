//! The rows of the NVMe Identify pages: NVM Express base and NVM command set specifications, fieldguide 3.1 and 3.2.
//!
//! This file has only the offsets. [`super::bits`] has the bits, [`super::decode`] the words, and [`super::namespace`] what
//! the fields mean together.

use crate::facts::field::fields;
use crate::facts::nvme::decode::*;

fields! {
    /// Identify Controller, CNS 01h.
    ID_CTRL "nvme-id-ctrl" Little {
        VID "VID" 0 2;
        SSVID "SSVID" 2 2;
        SN "SN" 4 20, as Text;
        MN "MN" 24 40, as Text;
        FR "FR" 64 8, as Text;
        IEEE "IEEE" 73 3;
        CMIC "CMIC" 76 1, says cmic;
        MDTS "MDTS" 77 1, says pages;
        CNTLID "CNTLID" 78 2;
        VER "VER" 80 4, says version;
        CTRATT "CTRATT" 96 4;
        CNTRLTYPE "CNTRLTYPE" 111 1, says controller_type;
        OACS "OACS" 256 2, says oacs;
        LPA "LPA" 261 1, says lpa;
        SANICAP "SANICAP" 328 4, says sanicap;
        NN "NN" 516 4;
        ONCS "ONCS" 520 2, says oncs, claim true;
        FUSES "FUSES" 522 2;
        FNA "FNA" 524 1, says fna;
        VWC "VWC" 525 1, says vwc;
        AWUN "AWUN" 526 2, says zeroes_based;
        AWUPF "AWUPF" 528 2, says zeroes_based;
        SGLS "SGLS" 536 4;
        SUBNQN "SUBNQN" 768 256, as Text;
    }
}

// NVMCAP has 16 bytes; a namespace whose bytes take more than the low 8 does not exist.
fields! {
    /// Identify Namespace, CNS 00h.
    ID_NS "nvme-id-ns" Little {
        NSZE "NSZE" 0 8;
        NCAP "NCAP" 8 8;
        NUSE "NUSE" 16 8;
        NSFEAT "NSFEAT" 24 1, says nsfeat;
        NLBAF "NLBAF" 25 1, says |v| Some(format!("{} formats, 0's based", v.saturating_add(1)));
        FLBAS "FLBAS" 26 1;
        DPC "DPC" 28 1;
        DPS "DPS" 29 1, says dps;
        NMIC "NMIC" 30 1, says nmic;
        RESCAP "RESCAP" 31 1;
        FPI "FPI" 32 1, says fpi;
        DLFEAT "DLFEAT" 33 1, says dlfeat, claim true;
        NOIOB "NOIOB" 46 2;
        NVMCAP "NVMCAP" 48 8;
        NPWG "NPWG" 64 2;
        NPWA "NPWA" 66 2;
        NPDG "NPDG" 68 2;
        NPDA "NPDA" 70 2;
        NOWS "NOWS" 72 2;
        NULBAF "NULBAF" 82 1;
        NSATTR_00 "NSATTR" 99 1, says nsattr;
        NGUID "NGUID" 104 16, as Hex;
        EUI64 "EUI64" 120 8, as Hex;
    }
}

fields! {
    /// Identify Controller of the NVM command set, CNS 06h.
    ID_CTRL_NVM "nvme-id-ctrl-nvm" Little {
        VSL "VSL" 0 1, says pages;
        WZSL "WZSL" 1 1, says pages;
        WUSL "WUSL" 2 1, says pages;
        DMRL "DMRL" 3 1;
        DMRSL "DMRSL" 4 4;
        DMSL "DMSL" 8 8;
        KPIOCAP "KPIOCAP" 16 1;
        WZDSL "WZDSL" 17 1, says pages;
        AOCS "AOCS" 18 2;
        VER_NVM "VER" 20 4, says version;
        LBAMQF "LBAMQF" 24 1;
    }
}

fields! {
    /// Identify Namespace of the NVM command set, CNS 05h.
    ID_NS_NVM "nvme-id-ns-nvm" Little {
        LBSTM "LBSTM" 0 8;
        PIC "PIC" 8 1;
        PIFA "PIFA" 9 1;
        NPDGL "NPDGL" 268 4;
        NPRG "NPRG" 272 4;
        NPRA "NPRA" 276 4;
        NORS "NORS" 280 4;
        NPDAL "NPDAL" 284 4;
    }
}

fields! {
    /// Identify Namespace independent of the command set, CNS 08h; its NSFEAT is not that of CNS 00h.
    ID_NS_INDEPENDENT "nvme-id-ns-independent" Little {
        NSFEAT_INDEPENDENT "NSFEAT" 0 1, says nsfeat_independent;
        NMIC_INDEPENDENT "NMIC" 1 1, says nmic;
        RESCAP_INDEPENDENT "RESCAP" 2 1;
        FPI_INDEPENDENT "FPI" 3 1, says fpi;
        NSATTR "NSATTR" 8 1, says nsattr;
        NSTAT "NSTAT" 14 1, says nstat;
        KPIOS "KPIOS" 15 1;
    }
}
