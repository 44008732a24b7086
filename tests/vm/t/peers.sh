#!/bin/bash
# Every field that `zerocap probe --json` decodes equals what nvme-cli and sg3_utils say of the same live device.
# vm: -d nva:64M:nvme -d scs:64M:scsi -d at:64M:ata -d ua:64M:uas -d big:64M:none
# vm: -- -device nvme,id=nc,serial=big,mdts=5 -device nvme-ns,drive=big,bus=nc,logical_block_size=4096,physical_block_size=4096
. "${0%/*}/../lib.sh"

sd=$(sdebug lbpws=1 lbpws10=1 lbpu=1 lbprz=1 unmap_max_blocks=2048 unmap_granularity=16 unmap_alignment=8)
cat >/tmp/peers.py <<'PY'
import json, re, subprocess, sys
def run(*c):
    return subprocess.run(c, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
dev = sys.argv[1]
probe = json.loads(run("zerocap", "probe", "--json", dev))
said = {}
for r in probe["readings"]:
    if r["raw"] is not None:
        said.setdefault((r["source"], r["field"]), r["raw"])
def ours(source, field):
    return said.get((source, field))
def number(text):
    return int(text, 0)
agreed, wrong, counts = 0, [], {}
def same(source, field, theirs, convert=number):
    global agreed
    got = ours(source, field)
    if got is None:
        wrong.append(f"{source} {field}: not read, peer says {theirs}")
    elif convert(got) != theirs:
        wrong.append(f"{source} {field}: {got}, peer says {theirs}")
    else:
        agreed += 1
        counts[source] = counts.get(source, 0) + 1
def at_least(source, n):
    if counts.get(source, 0) < n:
        wrong.append(f"{source}: {counts.get(source, 0)} fields were compared, {n} expected")
if "nvme" in dev:
    for source, command, fields in [
        ("nvme-id-ctrl", ["id-ctrl"], "vid ssvid cmic mdts cntlid ver ctratt cntrltype oacs lpa sanicap nn oncs fuses fna vwc awun awupf sgls"),
        ("nvme-id-ns", ["id-ns"], "nsze ncap nuse nsfeat nlbaf flbas dpc dps nmic rescap fpi dlfeat noiob nvmcap npwg npwa npdg npda nows nulbaf nsattr"),
        ("nvme-id-ctrl-nvm", ["nvm-id-ctrl"], "vsl wzsl wusl dmrl dmrsl dmsl kpiocap wzdsl aocs"),
        ("nvme-id-ns-nvm", ["nvm-id-ns"], "lbstm pic npdgl nprg npra nors npdal"),
        ("nvme-id-ns-independent", ["cmdset-ind-id-ns"], "nsfeat nmic rescap fpi nsattr nstat"),
    ]:
        text = run("nvme", *command, "/dev/" + dev, "-o", "json")
        try:
            peer = json.loads(text)
        except ValueError:
            print("      peer gives no", command[0]); continue
        for field in fields.split():
            value = peer.get(field)
            if value is None:
                print("      peer does not show", command[0], field); continue
            # nvme-cli shows these as counts, one more than the field holds.
            if isinstance(value, str):
                value = int(value, 0)
            same(source, field.upper(), value)
        if command == ["id-ctrl"]:
            for field in ("sn", "mn", "fr"):
                same(source, field.upper(), peer[field].strip(), str)
        if command == ["id-ns"]:
            for field in ("nguid", "eui64"):
                same(source, field.upper(), peer[field], str)
else:
    table = {
        "0xb0": ("scsi-vpd-b0", {
            "Write same non-zero (WSNZ):": "WSNZ", "Optimal transfer length granularity:": "OPTIMAL TRANSFER LENGTH GRANULARITY",
            "Maximum transfer length:": "MAXIMUM TRANSFER LENGTH", "Optimal transfer length:": "OPTIMAL TRANSFER LENGTH",
            "Maximum unmap LBA count:": "MAXIMUM UNMAP LBA COUNT", "Optimal unmap granularity:": "OPTIMAL UNMAP GRANULARITY",
            "Maximum unmap block descriptor count:": "MAXIMUM UNMAP BLOCK DESCRIPTOR COUNT",
            "Unmap granularity alignment:": "UNMAP GRANULARITY ALIGNMENT", "Maximum write same length:": "MAXIMUM WRITE SAME LENGTH"}),
        "0xb2": ("scsi-vpd-b2", {
            "LBPU=": "LBPU", "LBPWS=": "LBPWS", "LBPWS10=": "LBPWS10", "LBPRZ=": "LBPRZ", "ANC_SUP=": "ANC_SUP",
            "Threshold exponent:": "THRESHOLD EXPONENT", "Provisioning type:": "PROVISIONING TYPE",
            "Threshold percentage:": "THRESHOLD PERCENTAGE"}),
    }
    for page, (source, labels) in table.items():
        for line in run("sg_vpd", "--page=" + page, "/dev/" + dev).splitlines():
            for label, field in labels.items():
                m = re.match(re.escape(label) + r"\s*(0x[0-9a-f]+|\d+)", line.strip())
                if m:
                    same(source, field, int(m[1], 0))
    text = run("sg_readcap", "--16", "/dev/" + dev)
    for pattern, field in [
        (r"prot_en=(\d)", "PROT_EN"), (r"lbpme=(\d)", "LBPME"), (r"lbprz=(\d)", "LBPRZ"),
        (r"[Ll]ast LBA=(\d+)", "RETURNED LOGICAL BLOCK ADDRESS"), (r"Logical block length=(\d+)", "LOGICAL BLOCK LENGTH IN BYTES"),
        (r"physical block exponent=(\d+)", "LOGICAL BLOCKS PER PHYSICAL BLOCK EXPONENT"),
    ]:
        m = re.search(pattern, text)
        if m:
            same("scsi-read-capacity-16", field, int(m[1]))
    at_least("scsi-read-capacity-16", 6)
    text = run("sg_inq", "/dev/" + dev)
    for label, field in [("Vendor identification:", "T10 VENDOR IDENTIFICATION"), ("Product identification:", "PRODUCT IDENTIFICATION"),
                         ("Product revision level:", "PRODUCT REVISION LEVEL")]:
        m = re.search(re.escape(label) + r"(.*)", text)
        if m and m[1].strip():
            same("scsi-inquiry", field, m[1].strip(), str)
print("\n".join("      " + w for w in wrong), end="\n" if wrong else "")
print(agreed, "agree")
sys.exit(bool(wrong) or agreed < 6)
PY
for d in "$(disk nva)" "$(disk big)" "$(disk scs)" "$sd" "$(disk at)" "$(wait_for 10 disk ua && disk ua)"; do
    if out=$(python3 /tmp/peers.py "$d" 2>&1); then ok "$d: ${out##*$'\n'}"; else fail "$d"; fi
    printf '%s\n' "$out"
done
