// Reads device nodes, one on each line, and prints what to do with a range that has to read as zero, by the published document.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

type document struct {
	Format int
	Class  string
	Device struct {
		Diskseq json.Number
	}
	Verified *bool `json:"zeroes_verified"`
	Findings []struct {
		Code string
	}
}

func read(node string) (d document) {
	var st syscall.Stat_t
	if syscall.Stat(node, &st) != nil {
		return
	}
	major := st.Rdev>>32&0xfffff000 | st.Rdev>>8&0xfff
	minor := st.Rdev>>12&0xffffff00 | st.Rdev&0xff
	dir, err := filepath.EvalSymlinks(fmt.Sprintf("/sys/dev/block/%d:%d", major, minor))
	if err != nil {
		return
	}
	if _, err := os.Stat(dir + "/partition"); err == nil {
		dir = filepath.Dir(dir)
	}
	number, _ := os.ReadFile(dir + "/dev")
	diskseq, _ := os.ReadFile(dir + "/diskseq")
	text, err := os.ReadFile("/run/zerocap/" + strings.TrimSpace(string(number)) + ".json")
	if err != nil || json.Unmarshal(text, &d) != nil || d.Format != 1 ||
		d.Device.Diskseq.String() != strings.TrimSpace(string(diskseq)) {
		return document{}
	}
	return
}

func decide(d document) string {
	switch d.Class {
	case "broken":
		return "write, never zero or discard"
	case "fast":
		for _, finding := range d.Findings {
			if finding.Code == "deferred-cost" {
				return "zero only what stays empty"
			}
		}
		if d.Verified != nil && *d.Verified {
			return "zero"
		}
		return "zero, read back a sample"
	}
	return "write"
}

func main() {
	for nodes := bufio.NewScanner(os.Stdin); nodes.Scan(); {
		fmt.Println(decide(read(nodes.Text())))
	}
}
