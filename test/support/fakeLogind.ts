/**
 * A system bus of a test's own, and programs that answer as systemd's login manager does. Signals go over the bus to the real
 * `busctl monitor`; calls are answered from files beside the programs: `InhibitDelayMaxUSec`, `PreparingForShutdown`. Each
 * call is a line of `calls`. A fake `systemd-inhibit` runs its command, as the real one does, and writes its arguments down.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { findProgram } from "./findProgram.ts";
import { waitFor } from "./waitFor.ts";

const execute = promisify(execFile);

/** The login manager and its programs. */
export interface FakeLogind {
  readonly busctl: string;
  readonly inhibit: string;
  readonly settingsDir: string;
  set(property: "InhibitDelayMaxUSec" | "PreparingForShutdown", value: string): Promise<void>;
  /** Sends the signal PrepareForShutdown. */
  emit(value: boolean): Promise<void>;
  /** Calls so far, and locks. */
  calls(): Promise<readonly string[]>;
  /** Ends the bus. */
  stop(): Promise<void>;
}

/** Lists the programs that this machine lacks. */
export const missingForLogind = (): readonly string[] =>
  ["busctl", "dbus-daemon"].filter((program) => findProgram(program) === undefined);

const busctlScript = (dir: string): string => String.raw`#!/bin/sh
export DBUS_SYSTEM_BUS_ADDRESS=unix:path=${dir}/bus
for word; do last=$word; done
if [ "$last" = monitor ] || [ "$1" = emit ]; then exec busctl "$@"; fi
shift 3
printf '%s\n' "$*" >>"${dir}/calls"
case $1 in
  get-property) printf '{"type":"t","data":%s}\n' "$(cat "${dir}/$5")" ;;
  call) echo '{"type":"","data":[]}' ;;
esac
`;

const inhibitScript = (dir: string): string => String.raw`#!/bin/sh
trap '' TERM
printf '%s|' "$@" >>"${dir}/calls"
echo >>"${dir}/calls"
if [ -f "${dir}/refuse" ]; then cat "${dir}/refuse" >&2; exit 1; fi
while [ "$1" != "${"${1#--}"}" ]; do shift; done
"$@"
echo released >>"${dir}/calls"
`;

const busConfig = (
  dir: string,
): string => `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path=${dir}/bus</listen><auth>EXTERNAL</auth><policy context="default">
<allow user="*"/><allow own="*"/><allow send_type="*"/><allow receive_type="*"/><allow send_destination="*"/>
<allow eavesdrop="true"/></policy></busconfig>
`;

/** Starts the bus in a directory. */
export async function fakeLogind(dir: string): Promise<FakeLogind> {
  const at = (name: string): string => join(dir, name);
  const scripts = { busctl: busctlScript(dir), "systemd-inhibit": inhibitScript(dir) };
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(at(name), script);
    await chmod(at(name), 0o755);
  }
  await writeFile(at("bus.conf"), busConfig(dir));
  await writeFile(at("calls"), "");
  const bus: ChildProcess = spawn("dbus-daemon", [`--config-file=${at("bus.conf")}`, "--nofork", "--nopidfile"]);
  const set: FakeLogind["set"] = (property, value) => writeFile(at(property), value);
  await set("InhibitDelayMaxUSec", "5000000");
  await set("PreparingForShutdown", "false");
  const emit = (value: boolean) =>
    execute(at("busctl"), [
      ...["emit", "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "PrepareForShutdown"],
      ...["b", String(value)],
    ]);
  // The bus is there when it takes a message.
  await waitFor("the bus", () => emit(false).then(() => true));
  return {
    busctl: at("busctl"),
    inhibit: at("systemd-inhibit"),
    settingsDir: at("logind.conf.d"),
    set,
    emit: async (value) => void (await emit(value)),
    calls: async () => (await readFile(at("calls"), "utf8")).trimEnd().split("\n"),
    async stop() {
      bus.kill();
      if (bus.exitCode === null && bus.signalCode === null) await once(bus, "exit");
    },
  };
}
