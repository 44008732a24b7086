/* Reads device nodes, one on each line, and prints what to do with a range that has to read as zero, by udev's properties. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <systemd/sd-device.h>
#include <unistd.h>

static const char *get(sd_device *dev, const char *name)
{
    const char *value;
    return sd_device_get_property_value(dev, name, &value) < 0 ? "" : value;
}

static const char *decide(sd_device *dev)
{
    sd_device *disk = dev;
    uint64_t diskseq;
    dev_t number;
    char path[64], codes[4200];
    const char *class = get(dev, "ZEROCAP_CLASS");
    if (strcmp(get(dev, "DEVTYPE"), "partition") == 0 && sd_device_get_parent(dev, &disk) < 0)
        return "write";
    /* The properties are those of this disk, and its published document exists. */
    if (sd_device_get_diskseq(disk, &diskseq) < 0)
        diskseq = 0; /* Linux before 5.15 has none */
    if (strtoull(get(dev, "ZEROCAP_DISKSEQ"), NULL, 10) != diskseq || sd_device_get_devnum(disk, &number) < 0)
        return "write";
    snprintf(path, sizeof path, "/run/zerocap/%u:%u.json", major(number), minor(number));
    if (access(path, F_OK) != 0)
        return "write";
    snprintf(codes, sizeof codes, ",%s,", get(dev, "ZEROCAP_FINDINGS"));
    if (strcmp(class, "broken") == 0)
        return "write, never zero or discard";
    if (strcmp(class, "fast") != 0)
        return "write";
    if (strstr(codes, ",deferred-cost,"))
        return "zero only what stays empty";
    return strcmp(get(dev, "ZEROCAP_VERIFIED"), "1") == 0 ? "zero" : "zero, read back a sample";
}

int main(void)
{
    char node[4096];
    while (fgets(node, sizeof node, stdin)) {
        sd_device *dev = NULL;
        node[strcspn(node, "\n")] = 0;
        puts(sd_device_new_from_devname(&dev, node) < 0 ? "write" : decide(dev));
        fflush(stdout);
        sd_device_unref(dev);
    }
    return 0;
}
