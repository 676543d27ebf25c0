/**
 * The flags of cAdvisor that upstream's kubelet accepts. Upstream deprecates all of them; most have no effect there either.
 * Upstream: cmd/kubelet/app/options/globalflags_linux.go.
 */
import type { FlagSpec, FlagType } from "./flagSpec.ts";

const shared = { group: "Deprecated", deprecated: "a flag of cAdvisor that upstream will remove" } as const;

const heeded = (name: string, fallback: string, about: string): FlagSpec => ({
  ...{ name, type: "string", default: fallback, about, effective: true },
  ...shared,
});

const idle = (name: string, type: FlagType, fallback: string, about: string, why: string): FlagSpec => ({
  ...{ name, type, default: fallback, about, effective: false, idle: why },
  ...shared,
});

const storage = (name: string, type: FlagType, fallback: string): FlagSpec =>
  idle(name, type, fallback, "Storage of statistics", "a kubelet has no storage driver, upstream's neither");

const NO_EVENTS = "no events of cAdvisor are stored";
const OVER_CRI = "containers are read over CRI";
const APP_METRICS = "only Docker containers have such metrics, named in their labels";
const NO_HINTS = "containers have the names of their runtime";
const NO_SEARCH = "the runtime lists the containers";
const NO_LOAD = "the kernel reports the load for cgroup v1 only, over netlink";

/** The flags, by name. */
export const CADVISOR_FLAGS: readonly FlagSpec[] = [
  idle("application-metrics-count-limit", "int", "100", "Application metrics per container", APP_METRICS),
  heeded("boot-id-file", "/proc/sys/kernel/random/boot_id", "Files with the ID of this boot; the first one counts"),
  idle("container-hints", "string", "/etc/cadvisor/container_hints.json", "File with names of containers", NO_HINTS),
  idle("containerd", "string", "/run/containerd/containerd.sock", "Socket of containerd", OVER_CRI),
  idle("containerd-namespace", "string", "k8s.io", "Namespace of containers in containerd", OVER_CRI),
  idle("enable-load-reader", "bool", "false", "Read the CPU load of containers", NO_LOAD),
  idle("event-storage-age-limit", "string", "default=0", "How long to keep events, by type", NO_EVENTS),
  idle("event-storage-event-limit", "string", "default=0", "How many events to keep, by type", NO_EVENTS),
  idle("global-housekeeping-interval", "duration", "1m0s", "Period of searching for containers", NO_SEARCH),
  idle("log-cadvisor-usage", "bool", "false", "Log the usage of cAdvisor's container", "there is no such container"),
  heeded(
    "machine-id-file",
    "/etc/machine-id,/var/lib/dbus/machine-id",
    "Files with the ID of the machine; the first one counts",
  ),
  storage("storage-driver-buffer-duration", "duration", "1m0s"),
  storage("storage-driver-db", "string", "cadvisor"),
  storage("storage-driver-host", "string", "localhost:8086"),
  storage("storage-driver-password", "string", "root"),
  storage("storage-driver-secure", "bool", "false"),
  storage("storage-driver-table", "string", "stats"),
  storage("storage-driver-user", "string", "root"),
];
