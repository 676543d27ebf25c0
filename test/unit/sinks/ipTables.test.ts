/** Programs of iptables that refuse, hang, talk without end or are not there. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { firstValueFrom, type Observable, type Subscription } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import { type KubeletError, toKubeletError } from "../../../src/core/errors.ts";
import { createIpTables } from "../../../src/sinks/ipTables.ts";
import { findProgram } from "../../support/findProgram.ts";
import { mustSkip } from "../../support/mustSkip.ts";
import { scriptAt } from "../../support/networkNamespace.ts";
import { realClock } from "../../support/realClock.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { waitFor } from "../../support/waitFor.ts";

const RULE = { chain: "INPUT", at: "start", words: ["-j", "X"] } as const;

describe("iptables by its programs", () => {
  const dir = temporaryDirectory();
  const open: Subscription[] = [];
  afterEach(() => {
    for (const each of open.splice(0)) each.unsubscribe();
  });
  /** The port on a program that runs this script; `deadlineMs` of a hanging one is short. */
  const portOf = (text: string, nft = "nft", deadlineMs?: number) =>
    createIpTables({
      clock: realClock,
      programs: { IPv4: scriptAt(join(dir(), "iptables"), text), nft },
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
    });
  const failureOf = async (call: Observable<unknown>): Promise<KubeletError> => {
    const value: unknown = await firstValueFrom(call).catch(toKubeletError);
    return value as KubeletError;
  };
  const follow = (stream$: Observable<unknown>) => {
    const state = { count: 0, end: "" };
    const subscription = stream$.subscribe({
      next: () => (state.count += 1),
      error: (thrown: unknown) => (state.end = toKubeletError(thrown).message),
      complete: () => (state.end = "complete"),
    });
    open.push(subscription);
    return state;
  };

  it("waits for the lock in each call, and adds a rule that is not there", async () => {
    const calls = join(dir(), "calls");
    const port = portOf(`echo "$*" >>${calls}; case "$*" in *-C*) exit 1 ;; esac`);
    expect(await firstValueFrom(port.ensureRule("IPv4", "filter", RULE))).toBe(false);
    expect(await firstValueFrom(port.ensureRule("IPv4", "nat", { ...RULE, at: "end" }))).toBe(false);
    expect((await readFile(calls, "utf8")).trim().split("\n")).toEqual([
      "-w 5 -C INPUT -t filter -j X",
      "-w 5 -I INPUT -t filter -j X",
      "-w 5 -C INPUT -t nat -j X",
      "-w 5 -A INPUT -t nat -j X",
    ]);
  });

  it.each([
    [4, "Unavailable", "Another app is currently holding the xtables lock."],
    [3, "Io", "can't initialize iptables table `nat'"],
  ] as const)("fails with the exit status %i and the words of the program", async (status, code, words) => {
    const port = portOf(`echo "${words.replaceAll("`", "\\`")}" >&2; exit ${status}`);
    const why = `exit status ${status}: ${words}`;
    const failures = [
      await failureOf(port.ensureChain("IPv4", "nat", "X")),
      await failureOf(port.ensureRule("IPv4", "nat", RULE)),
      await failureOf(port.hasChain("IPv4", "nat", "X")),
    ];
    expect(failures.map(({ code: found, message }) => [found, message])).toEqual([
      [code, `error creating chain "X": ${why}`],
      [code, `error checking rule: ${why}`],
      [code, `error listing chain "X": ${why}`],
    ]);
  });

  it("tells a family that this system lacks from one that cannot be asked now", async () => {
    expect(await firstValueFrom(portOf("echo no such table; exit 3").isUsable("IPv4"))).toEqual({
      isUsable: false,
      reason: "exit status 3: no such table",
    });
    expect(await failureOf(portOf("exit 4").isUsable("IPv4"))).toMatchObject({ code: "Unavailable" });
    const absent = createIpTables({ clock: realClock, programs: { IPv4: join(dir(), "none") } });
    expect(await failureOf(absent.isUsable("IPv4"))).toMatchObject({
      code: "NotFound",
      message: `cannot look for iptables: ${join(dir(), "none")} is not installed on this node`,
    });
  });

  it("gives up a program that hangs, and refuses a fifth one beside four", async () => {
    const port = portOf("exec sleep 600", "nft", 1_000);
    const hanging = [1, 2, 3, 4].map(() => failureOf(port.hasChain("IPv4", "nat", "X")));
    expect(await failureOf(port.hasChain("IPv4", "nat", "X"))).toMatchObject({
      code: "ResourceExhausted",
      message: 'cannot list chain "X": 4 calls of iptables hang in the kernel',
    });
    expect((await Promise.all(hanging)).map(({ code }) => code)).toEqual(Array(4).fill("DeadlineExceeded"));
    // Killed programs make room.
    await waitFor("another call", async () => {
      const { code } = await failureOf(port.hasChain("IPv4", "nat", "X"));
      return code === "DeadlineExceeded";
    });
  });

  it("keeps 500 characters of a program that talks without end", async () => {
    const port = portOf(
      "i=0; while [ $i -lt 2000 ]; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; i=$((i+1)); done; exit 2",
    );
    const { message } = await failureOf(port.hasChain("IPv4", "nat", "X"));
    expect(message.length).toBe('error listing chain "X": exit status 2: '.length + 500);
  });

  const title = "reports deletions";
  const missing = findProgram("setpriv") === undefined ? ["setpriv"] : [];
  it.skipIf(mustSkip(title, missing))(`${title} of a kubelet's chains as nft does, until nft ends`, async () => {
    const nft = scriptAt(
      join(dir(), "nft"),
      `[ "$*" = "monitor chains" ] || exit 9
       echo "delete chain ip nat KUBE-SVC-X"; echo "add chain ip nat KUBE-MARK-MASQ"; echo "delete chain ip mangle KUBE-KUBELET-CANARY"; exit 3`,
    );
    const state = follow(portOf('echo "iptables v1.8.9 (nf_tables)"', nft).deletions$);
    await waitFor("the end", () => state.end !== "");
    expect(state).toEqual({ count: 1, end: "setpriv: exit status 3" });
  });

  it.each(['echo "iptables v1.8.9 (legacy)"', "exit 1"])(
    "reports no deletions when the program is: %s",
    async (text) => {
      const state = follow(portOf(text, "/nowhere/nft").deletions$);
      await waitFor("the end", () => state.end !== "");
      expect(state).toEqual({ count: 0, end: "complete" });
    },
  );
});
