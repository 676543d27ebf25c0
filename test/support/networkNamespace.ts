/** A network of a test: its own interfaces, routes and firewall, gone with the process that holds it. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "./findProgram.ts";

/** A back end of iptables. */
export type Backend = "nft" | "legacy";

/** Lists the requirements of a network with this back end that the machine lacks. */
export function missingForIpTables(backend: Backend): readonly string[] {
  const programs = ["unshare", "nsenter", "setpriv", "ip", ...["", "6"].map((six) => `ip${six}tables-${backend}`)];
  return [...(process.getuid?.() === 0 ? [] : ["root"]), ...programs.filter((name) => findProgram(name) === undefined)];
}

export interface NetworkNamespace {
  /** Words before a program that run it inside. */
  readonly enter: readonly string[];
  /** Runs a program inside, and returns its output. */
  inside(program: string, ...args: readonly string[]): string;
  close(): Promise<void>;
}

/** Opens a network with the loopback interface alone. Its holder ends with this process. */
export async function openNetworkNamespace(): Promise<NetworkNamespace> {
  const program = "ip link set lo up && echo ready && exec cat";
  const holder = spawn("unshare", ["--net", "sh", "-c", program], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(holder, "exit");
  const failed = ended.then(() => Promise.reject(new Error("the network of the test ended")));
  await Promise.race([once(holder.stdout, "data"), failed]);
  failed.catch(() => undefined);
  const enter = ["nsenter", `--net=/proc/${holder.pid ?? 0}/ns/net`];
  return {
    enter,
    inside: (name, ...args) => {
      const [first = "", ...words] = [...enter, findProgram(name) ?? name, ...args];
      return execFileSync(first, words, { encoding: "utf8" });
    },
    async close() {
      holder.stdin.end();
      await ended;
    },
  };
}

/** Makes a directory of `iptables` and its relatives, as an installation with this back end has them; returns it. */
export function ipTablesFolder(parent: string, backend: Backend): string {
  const folder = join(parent, backend);
  mkdirSync(folder);
  for (const family of ["iptables", "ip6tables"]) {
    symlinkSync(findProgram(`${family}-${backend}`) ?? "", join(folder, family));
    symlinkSync(findProgram(`${family}-${backend}-save`) ?? "", join(folder, `${family}-save`));
  }
  return folder;
}

/** Writes an executable script; returns its path. */
export function scriptAt(path: string, text: string): string {
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** The chains and rules of kubelets in `iptables-save` text, by table, without counters. */
export function kubeletRules(saved: string): readonly string[] {
  let table = "";
  return saved.split("\n").flatMap((line) => {
    if (line.startsWith("*")) table = line.slice(1);
    return line.includes("KUBE-") ? [`${table} ${line.replace(/ \[\d+:\d+\]$/, "")}`] : [];
  });
}
