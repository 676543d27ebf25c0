/**
 * Kills by the OOM killer, read from messages of the kernel. The kernel reports a kill in many messages: the first names
 * the process that needed memory, a later one the process that was killed. Bounds: each message is searched once, and
 * one report is open at a time. Upstream: utils/oomparser of cadvisor, pkg/kubelet/oom/oom_watcher_linux.go.
 */
import type { KubeletEvent } from "../events.ts";
import { nodeEvent } from "../node/nodeEvents.ts";
import type { KernelMessage } from "./kernelRecord.ts";

/** A kill by the OOM killer. */
export interface OomInstance {
  /** The cgroup whose limit was reached; `/` when the machine was out of memory. */
  readonly limitedCgroup: string;
  /** The cgroup of the killed process; `/` when the kernel did not report it. */
  readonly killedCgroup: string;
  readonly processName: string;
  readonly pid: number;
}

type OomCgroups = Pick<OomInstance, "limitedCgroup" | "killedCgroup">;

/** The state between two messages. */
export interface OomReport {
  /** The open report; undefined between reports. */
  readonly cgroups: OomCgroups | undefined;
  /** The number of the last message. */
  readonly sequence: number;
  /** The kill that the last message completed. */
  readonly found: OomInstance | undefined;
}

/** The state before the first message. */
export const noOomReport: OomReport = { cgroups: undefined, sequence: -1, found: undefined };

const ROOT = "/";
const FIRST = " invoked oom-killer:";

/**
 * Advances the state by a message.
 *
 * Differs from upstream: a lost message ends the open report, because the next kill may belong to a report whose start
 * was lost, and upstream would attribute it to the machine; and a new report replaces an open one.
 */
export function nextOomReport(report: OomReport, { sequence, text }: KernelMessage): OomReport {
  if (text.includes(FIRST)) {
    return { cgroups: { limitedCgroup: ROOT, killedCgroup: ROOT }, sequence, found: undefined };
  }
  const isGap = sequence !== report.sequence + 1;
  if (report.cgroups === undefined || isGap) return { cgroups: undefined, sequence, found: undefined };
  const cgroups = legacyCgroups(text) ?? report.cgroups;
  const process = killedProcess(text);
  const found = limitedKill(text) ?? (process && { ...cgroups, ...process });
  return { cgroups: found === undefined ? cgroups : undefined, sequence, found };
}

/** Whether the machine itself was out of memory, and no cgroup was at its limit. */
export const isSystemOom = ({ limitedCgroup }: OomInstance): boolean => limitedCgroup === ROOT;

/** Returns the event of a kill for which `isSystemOom` holds. */
export const systemOomEvent = (nodeName: string, { processName, pid }: OomInstance): KubeletEvent =>
  nodeEvent(nodeName, "SystemOOM", `System OOM encountered, victim process: ${processName}, pid: ${pid}`, "Warning");

const LIMITED = "oom-kill:constraint=";

/**
 * Parses the summary of Linux 5.0 and later: `oom-kill:constraint=...,oom_memcg=/a,task_memcg=/a/b,task=c,pid=1,uid=0`.
 * Returns undefined if no cgroup was at its limit (`global_oom`): the message about the killed process follows. Searches
 * from the end, because a process name may contain everything that a separator does.
 */
function limitedKill(text: string): OomInstance | undefined {
  if (!text.startsWith(LIMITED)) return undefined;
  const values: string[] = [];
  let end = text.length;
  for (const key of [",uid=", ",pid=", ",task=", ",task_memcg=", ",oom_memcg="]) {
    const start = end === 0 ? -1 : text.lastIndexOf(key, end - 1);
    if (start === -1) return undefined;
    values.push(text.slice(start + key.length, end));
    end = start;
  }
  const [, pid = "", processName = "", killedCgroup = "", limitedCgroup = ""] = values;
  return isPid(pid) ? { limitedCgroup, killedCgroup, processName, pid: Number(pid) } : undefined;
}

const LEGACY_START = "Task in ";
const LEGACY_MIDDLE = " killed as a result of limit of ";

/** Parses the message before Linux 5.0: `Task in /a/b killed as a result of limit of /a`. */
function legacyCgroups(text: string): OomCgroups | undefined {
  const middle = text.startsWith(LEGACY_START) ? text.lastIndexOf(LEGACY_MIDDLE) : -1;
  if (middle < LEGACY_START.length) return undefined;
  return {
    killedCgroup: absolute(text.slice(LEGACY_START.length, middle)),
    limitedCgroup: absolute(text.slice(middle + LEGACY_MIDDLE.length)),
  };
}

const absolute = (cgroup: string): string => (cgroup.startsWith(ROOT) ? cgroup : `${ROOT}${cgroup}`);

const KILLED = "Killed process ";

/** Parses `Killed process 12 (name) total-vm:...`, which every kernel writes. */
function killedProcess(text: string): Pick<OomInstance, "processName" | "pid"> | undefined {
  const start = text.indexOf(KILLED);
  if (start === -1) return undefined;
  const open = text.indexOf(" (", start + KILLED.length);
  const close = text.lastIndexOf(")");
  const pid = text.slice(start + KILLED.length, open);
  if (open === -1 || close <= open + 2 || !isPid(pid)) return undefined;
  return { pid: Number(pid), processName: text.slice(open + 2, close) };
}

const isPid = (text: string): boolean => /^\d{1,10}$/.test(text);
