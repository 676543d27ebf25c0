/** `rxlet simulate` in this process. */
import { runProgram } from "../../src/cli/program.ts";
import { type OtherKubelet, simulate } from "../../src/commands/simulate.ts";
import { toKubeletError } from "../../src/core/errors.ts";

/** The invocation of a command line. */
export const invocationOf = (args: readonly string[]) => runProgram(["simulate", ...args], { version: "0" });

/** The command as main runs it: exit code, or what it threw, and what it wrote. */
export async function simulated(args: readonly string[], other?: OtherKubelet) {
  const invocation = await invocationOf(args);
  if (invocation.command !== "simulate") throw new Error(JSON.stringify(invocation));
  let text = "";
  const screen = { write: (more: string) => (text += more) };
  try {
    return { code: await simulate(invocation, screen, other), text };
  } catch (thrown) {
    return { error: toKubeletError(thrown).message, text };
  }
}

/** Returns the summary line of a name. */
export const lineOf = (text: string, name: string): string | undefined =>
  text
    .split("\n")
    .find((line) => line.startsWith(name))
    ?.slice(13);
