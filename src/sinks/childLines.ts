/**
 * A program that runs beside the kubelet and reports by lines. It ends when its input is closed: also when the kubelet is
 * killed. Bounds: 64 KiB for one line and for the end of its errors that is kept.
 */
import { spawn } from "node:child_process";
import { Observable } from "rxjs";
import { kubeletError } from "../core/errors.ts";
import { ioError } from "../core/ioError.ts";

/** A line of the program. */
export interface ChildLine {
  readonly from: "stdout" | "stderr";
  readonly text: string;
}

/**
 * Returns a program and its arguments for childLines when the program does not look at its input: the kernel ends it after
 * the kubelet was killed. Requires setpriv of util-linux.
 */
export const dyingWithUs = (program: string, args: readonly string[]): [string, readonly string[]] => [
  "setpriv",
  ["--pdeathsig", "TERM", "--", program, ...args],
];

const MAX_CHARS = 64 * 1024;
const MAX_REASON_CHARS = 500;

/**
 * Runs the program while subscribed; `input` is written to it once. Errors when it ends, with what it said, or when a line
 * is too long. Unsubscribing closes its input and ends it with TERM.
 */
export const childLines = (program: string, args: readonly string[], input = ""): Observable<ChildLine> =>
  new Observable<ChildLine>((subscriber) => {
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, LC_ALL: "C" } });
    let said = "";
    const fail = (why: string): void => subscriber.error(kubeletError("Unavailable", `${program}: ${why}`));
    const follow = (from: ChildLine["from"]): void => {
      let rest = "";
      child[from].setEncoding("utf8").on("data", (chunk: string) => {
        if (from === "stderr") said = (said + chunk).slice(-MAX_CHARS);
        const lines = (rest + chunk).split("\n");
        rest = lines.pop() ?? "";
        for (const text of lines) subscriber.next({ from, text });
        if (rest.length > MAX_CHARS) fail("a line is too long");
      });
    };
    follow("stdout");
    follow("stderr");
    // The program may end before it has read its input.
    child.stdin.on("error", () => {});
    child.stdin.write(input);
    child.on("error", (thrown) => subscriber.error(ioError("run", program, thrown)));
    child.on("close", (code, signal) => {
      const how = signal === null ? `exit status ${code}` : `signal: ${signal}`;
      fail(`${how}${said.trim() === "" ? "" : `: ${said.trim().slice(-MAX_REASON_CHARS)}`}`);
    });
    return () => {
      child.stdin.end();
      child.kill("SIGTERM");
    };
  });
