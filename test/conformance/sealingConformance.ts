/** Promises of the Sealing port, for each implementation of it. */
import { firstValueFrom } from "rxjs";
import { expect, it } from "vitest";
import { toKubeletError } from "../../src/core/errors.ts";
import type { Sealing } from "../../src/ports/sealing.ts";

/** Creates a port; a fixture that runs in virtual time lets time pass itself. */
export type MakeSealing = () => Promise<{
  readonly sealing: Sealing;
  run(call: ReturnType<Sealing["seal"]>): Promise<string>;
}>;

const LONG = `{"value":"${"é".repeat(1 << 20)}"}`;

/** Registers the tests. */
export function sealingConformance(make: MakeSealing): void {
  it.each([
    ["a text", "hello"],
    ["an empty text", ""],
    ["2 MiB of UTF-8", LONG],
  ])("opens %s that it sealed", async (_, text) => {
    const { sealing, run } = await make();
    const sealed = await run(sealing.seal("pod-1", text));
    expect((await run(sealing.open("pod-1", sealed))) === text).toBe(true);
  });

  it.each([
    ["under another name", (sealed: string) => ({ name: "pod-2", sealed })],
    ["cut short", (sealed: string) => ({ name: "pod-1", sealed: sealed.slice(0, 4) })],
    ["empty", () => ({ name: "pod-1", sealed: "" })],
    ["of another program", () => ({ name: "pod-1", sealed: "-----BEGIN CERTIFICATE-----" })],
  ])("refuses a record %s with InvalidArgument", async (_, spoil) => {
    const { sealing, run } = await make();
    const { name, sealed } = spoil(await run(sealing.seal("pod-1", "hello")));
    const error = await run(sealing.open(name, sealed)).catch((thrown: unknown) => toKubeletError(thrown).code);
    expect(error).toBe("InvalidArgument");
  });
}

/** Runs a call in real time. */
export const inRealTime = (call: ReturnType<Sealing["seal"]>): Promise<string> => firstValueFrom(call);
