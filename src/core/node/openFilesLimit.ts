/** Decides how the limit on open files of a process is set. */

/** The step: none, a call of prlimit, or none because the kernel would refuse it. */
export type OpenFilesStep =
  | { readonly kind: "done" }
  | { readonly kind: "set" }
  | { readonly kind: "denied"; readonly hardLimit: number };

/** Bit of CAP_SYS_RESOURCE in a set of capabilities; see capabilities(7). */
const SYS_RESOURCE = 1n << 24n;

/**
 * Returns the step from `/proc/PID/limits` and `/proc/PID/status`. A process starts prlimit only if that can help: the
 * start of a program takes a daemon 80 ms.
 */
export function openFilesStep(limits: string, status: string, count: number): OpenFilesStep {
  const [, soft = "", hard = ""] = /^Max open files +(\w+) +(\w+)/m.exec(limits) ?? [];
  if (soft === String(count) && hard === String(count)) return { kind: "done" };
  const capabilities = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1];
  const mayRaise = capabilities === undefined || (BigInt(`0x${capabilities}`) & SYS_RESOURCE) !== 0n;
  if (mayRaise || !/^\d+$/.test(hard) || count <= Number(hard)) return { kind: "set" };
  return { kind: "denied", hardLimit: Number(hard) };
}
