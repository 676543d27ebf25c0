/**
 * A systemd of a test's own, with a D-Bus system bus: process 1 of namespaces that share nothing with the machine but
 * its files, on cgroups below one cgroup of the machine's. Gone after `stop`. Needs root.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { findProgram } from "./findProgram.ts";
import { cgroupFolders, processesInCgroup, removeCgroup } from "./kernelState.ts";
import { waitFor } from "./waitFor.ts";

/** A running manager. */
export interface PrivateSystemd {
  /** Path of its cgroup file system for this process. */
  readonly cgroupDir: string;
  /** `busctl` among its namespaces. */
  readonly busctl: string;
  /** Runs a command among its namespaces and gives what it printed. Rejects with what it complained of. */
  run(program: string, ...args: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

const execute = promisify(execFile);

const SYSTEMD = ["/usr/lib/systemd/systemd", "/lib/systemd/systemd"];
const PROGRAMS = ["busctl", "systemctl", "dbus-daemon", "unshare", "nsenter", "mount", "ip"];

/** Lists the requirements of a private systemd that this machine lacks. */
export function missingForSystemd(): readonly string[] {
  return [
    ...(process.getuid?.() === 0 ? [] : ["root"]),
    ...(SYSTEMD.some(existsSync) ? [] : ["systemd"]),
    ...PROGRAMS.filter((program) => findProgram(program) === undefined),
    ...(cgroupFolders("/").length > 0 ? [] : ["mounted cgroups"]),
  ];
}

/** Where the login manager is. */
const LOGIND = ["/usr/lib/systemd/systemd-logind", "/lib/systemd/systemd-logind"];

/**
 * Units it knows: the bus, and for those who start it a login manager. A shutdown is never done: its job waits until it is
 * cancelled.
 */
const UNITS = {
  "test.target": "[Unit]\nDefaultDependencies=no\nWants=dbus.service\n",
  "dbus.socket": "[Unit]\nDefaultDependencies=no\n[Socket]\nListenStream=/run/dbus/system_bus_socket\n",
  "dbus.service": `[Unit]
DefaultDependencies=no
Requires=dbus.socket
After=dbus.socket
[Service]
Type=notify
ExecStart=/usr/bin/dbus-daemon --config-file=FOLDER/bus.conf --nofork --nopidfile --systemd-activation
`,
  "systemd-logind.service": `[Unit]
DefaultDependencies=no
Requires=dbus.service
After=dbus.service
[Service]
Type=notify
BusName=org.freedesktop.login1
ExecStart=${LOGIND.find(existsSync) ?? "systemd-logind"}
`,
  "poweroff.target": "[Unit]\nDefaultDependencies=no\nRequires=power.service\nAfter=power.service\n",
  "power.service": "[Unit]\nDefaultDependencies=no\n[Service]\nType=oneshot\nExecStart=/bin/sleep infinity\n",
};

const BUS = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>systemd:</listen><auth>EXTERNAL</auth><policy context="default">
<allow user="*"/><allow own="*"/><allow send_type="*"/><allow receive_type="*"/><allow send_destination="*"/>
</policy></busconfig>
`;

/** Kinds of cgroups one can have here: where the machine has cgroup v2 alone, no other. */
export const cgroupVersionsHere = (): readonly (1 | 2)[] =>
  existsSync("/sys/fs/cgroup/cgroup.controllers") ? [2] : [1, 2];

/** Mounts of the cgroup file systems there are: `name type options`, the unified one alone for `v2`. */
function cgroupMounts(version: 1 | 2): readonly string[] {
  return readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .flatMap((line) => {
      const [, place, type, options = ""] = /^(?:\S+ ){4}(\S+) .* - (cgroup2?) \S+ (\S+)$/.exec(line) ?? [];
      if (place === undefined || type === undefined) return [];
      const own = options.split(",").filter((option) => option !== "rw" && option !== "ro");
      const controllers = own.some((option) => option.startsWith("name=")) ? ["none", ...own] : own;
      if (type === "cgroup2") return [`${version === 2 ? "." : basename(place)} cgroup2 rw`];
      return version === 2 ? [] : [`${basename(place)} cgroup ${controllers.join(",")}`];
    });
}

/** Process 1, before it is systemd: other mounts than the machine's. */
const inner = (folder: string, version: 1 | 2): string => `set -e
mount --make-rprivate /
umount -R /sys/fs/cgroup
mount -t tmpfs tmpfs /sys/fs/cgroup
while read -r name type options; do
  mkdir -p "/sys/fs/cgroup/$name"
  mount -t "$type" -o "$options" "$type" "/sys/fs/cgroup/$name"
done <<MOUNTS
${cgroupMounts(version).join("\n")}
MOUNTS
mount -t proc proc /proc
mount --bind /proc/sys /proc/sys
mount -o remount,ro,bind /proc/sys
mount -t tmpfs tmpfs /run
mkdir -p /run/dbus /run/systemd/system /run/empty
mount --bind /run/empty /etc/systemd
hostname rxlet-test
ip link set lo up
exec env -i PATH="$PATH" container=rxlet-test SYSTEMD_LOG_TARGET=console \\
  SYSTEMD_UNIT_PATH=${folder}/units:/run/systemd/system.control:/run/systemd/transient \\
  ${SYSTEMD.find(existsSync) ?? "systemd"} --system --unit=test.target
`;

/** Enters a cgroup of its own in every hierarchy, and leaves the machine's namespaces. */
const outer = (folder: string, cgroup: string): string => `set -e
for root in ${cgroupFolders("/").join(" ")}; do
  mkdir "$root${cgroup}"
  for file in cpuset.cpus cpuset.mems; do
    [ ! -e "$root/$file" ] || [ -n "$(cat "$root${cgroup}/$file")" ] || cat "$root/$file" >"$root${cgroup}/$file"
  done
  echo $$ >"$root${cgroup}/cgroup.procs"
done
exec unshare --fork --pid --mount --cgroup --uts --ipc --net /bin/sh ${folder}/inner.sh
`;

function writeFolder(folder: string, cgroup: string, version: 1 | 2, units: PrivateUnits): void {
  mkdirSync(join(folder, "tmp"));
  for (const [name, text] of Object.entries({ ...UNITS, ...units })) {
    mkdirSync(join(folder, "units", dirname(name)), { recursive: true });
    writeFileSync(join(folder, "units", name), text.replace("FOLDER", folder));
  }
  writeFileSync(join(folder, "bus.conf"), BUS);
  writeFileSync(join(folder, "inner.sh"), inner(folder, version));
  writeFileSync(join(folder, "outer.sh"), outer(folder, cgroup));
  chmodSync(folder, 0o755);
}

/** The only child of a process. */
function childOf(pid: number | undefined): number | undefined {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return children === "" ? undefined : Number(children.split(" ")[0]);
}

/** Texts of unit files by name, drop-ins as `NAME.service.d/NAME.conf`. */
export type PrivateUnits = Readonly<Record<string, string>>;

/**
 * Starts one: on the machine's kind of cgroups for version 1, on the unified hierarchy alone for 2. It knows `units` beside
 * those of the bus.
 */
export async function startPrivateSystemd(version: 1 | 2, units: PrivateUnits = {}): Promise<PrivateSystemd> {
  const folder = mkdtempSync(join(tmpdir(), "rxlet-systemd-"));
  const cgroup = `/${basename(folder)}`;
  writeFolder(folder, cgroup, version, units);
  const child = spawn("/bin/sh", [join(folder, "outer.sh")], { stdio: ["ignore", "ignore", "pipe"] });
  let complaints = "";
  child.stderr.on("data", (text: Buffer) => {
    complaints += text.toString();
  });
  const ended = once(child, "exit");
  const stop = async (): Promise<void> => {
    // The parent that waits for process 1 ends after it, so that both are reaped.
    const init = child.exitCode === null ? childOf(child.pid) : undefined;
    if (init === undefined) child.kill("SIGKILL");
    else process.kill(init, "SIGKILL");
    await ended;
    await waitFor("systemd to end", () => processesInCgroup(cgroup).length === 0);
    await waitFor(`cgroup ${cgroup} to go`, () => {
      removeCgroup(cgroup);
      return cgroupFolders(cgroup).length === 0;
    });
    rmSync(folder, { recursive: true });
  };
  try {
    const init = await waitFor("systemd to start", () => {
      const pid = childOf(child.pid);
      return pid !== undefined && readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("systemd") && pid;
    });
    const enter = ["-t", String(init), "-p", "-m", "-C", "-u", "-i", "-n"];
    leaveRoot(child.pid, cgroup);
    // A directory for temporary files of its own: process ids in those of others are not those seen in here.
    const env = { ...process.env, TMPDIR: join(folder, "tmp") };
    const run = async (program: string, ...args: readonly string[]): Promise<string> =>
      (await execute("nsenter", [...enter, program, ...args], { env })).stdout;
    const busctl = join(folder, "busctl");
    writeFileSync(busctl, `#!/bin/sh\nexec nsenter ${enter.join(" ")} busctl "$@"\n`, { mode: 0o755 });
    await waitFor("systemd to be on the bus", () => run("busctl", "--system", "status", "org.freedesktop.systemd1"));
    return { cgroupDir: `/proc/${init}/root/sys/fs/cgroup`, busctl, run, stop };
  } catch (thrown) {
    await stop();
    throw new Error(`no systemd: ${complaints}`, { cause: thrown });
  }
}

/** Moves the process out of the root cgroup: on cgroup v2 a cgroup that delegates controllers must have no processes. */
function leaveRoot(pid: number | undefined, cgroup: string): void {
  for (const folder of cgroupFolders(cgroup)) {
    if (!existsSync(join(folder, "cgroup.controllers"))) continue;
    mkdirSync(join(folder, "outside"));
    writeFileSync(join(folder, "outside", "cgroup.procs"), String(pid));
  }
}
