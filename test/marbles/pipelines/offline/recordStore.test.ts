/** Records on a simulated disk. */
import type { Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import { toKubeletError } from "../../../../src/core/errors.ts";
import { type KeptRecord, MAX_RECORD_BYTES, recordName } from "../../../../src/core/offline/keptRecord.ts";
import { createRecordStore } from "../../../../src/pipelines/offline/recordStore.ts";
import { createSimFiles, type SimFilesOptions } from "../../../../src/sim/host/simFiles.ts";
import { createSimSealing } from "../../../../src/sim/host/simSealing.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";
import { simApi } from "../../../support/simApi.ts";

const DIRECTORIES = { rootDir: "/k", podLogsDir: "/l", containerLogsDir: "/c" };
const RECORDS = "/k/offline/records";
const record = (key: string, value: unknown = { key }): KeptRecord => ({ kind: "pod", key, value });
const nameOf = ({ kind, key }: KeptRecord): string => recordName(kind, key);

function disk(fault?: SimFilesOptions["fault"]) {
  const { clock, run: value, scheduler } = simApi();
  const files = createSimFiles({ clock, fault });
  const telemetry = recordingTelemetry();
  const open = () => createRecordStore({ files, telemetry }, createSimSealing(clock), { directories: DIRECTORIES });
  /** Runs a stream without values; returns the code of its error. */
  const run = (stream$: Observable<unknown>): string => {
    const outcome: { ended?: string } = {};
    stream$.subscribe({
      error: (thrown: unknown) => (outcome.ended = toKubeletError(thrown).code),
      complete: () => (outcome.ended = "ok"),
    });
    while (outcome.ended === undefined && scheduler.runNext());
    return outcome.ended ?? "stuck";
  };
  return { files, telemetry, open, run, load: (store: ReturnType<typeof open>) => value(store.load()) };
}

describe("the store of records", () => {
  it("reads after a restart what was written, and writes nothing that the disk has", () => {
    const writes: string[] = [];
    const { open, run, load } = disk((operation) => {
      if (operation === "replaceFile") writes.push(operation);
      return undefined;
    });
    const [a, b] = [record("a"), record("b")];
    const first = open();
    const outcomes = [a, b].map((each) => run(first.write(nameOf(each), each)));
    const before = writes.length;
    const next = open();
    const found = load(next);
    const value = { key: "a" };
    const again = run(next.write(nameOf(a), { ...a, value }));
    expect([outcomes, found.map(({ key }) => key).toSorted(), again, writes.length - before]).toEqual([
      ["ok", "ok"],
      ["a", "b"],
      "ok",
      0,
    ]);
    expect([next.has(nameOf(a), value), next.has(nameOf(b), b.value), next.has("pod-1", a)]).toEqual([
      true,
      false,
      undefined,
    ]);
  });

  it("refuses a record above the bound, and keeps none of it", () => {
    const { open, run, files } = disk();
    const large = record("a", "x".repeat(MAX_RECORD_BYTES));
    expect([run(open().write(nameOf(large), large)), files.paths().filter((path) => path.includes(RECORDS))]).toEqual([
      "ResourceExhausted",
      [],
    ]);
  });

  it("counts a record as neither old nor new while it cannot be written, and forgets it once removed", () => {
    let isFull = false;
    const { open, run, telemetry } = disk((operation) =>
      isFull && operation === "replaceFile" ? "ResourceExhausted" : undefined,
    );
    const store = open();
    const [old, next] = [record("a", 1), record("a", 2)];
    const name = nameOf(old);
    run(store.write(name, old));
    isFull = true;
    const failed = run(store.write(name, next));
    const between = [store.has(name, 1), store.has(name, 2)];
    run(store.remove(name));
    expect([failed, between, store.has(name, 1), store.names()]).toEqual([
      "ResourceExhausted",
      [false, false],
      undefined,
      [],
    ]);
    expect(telemetry.samples.get('rxlet_offline_record_failures_total{action="write"}')).toBe(1);
  });

  it("sets aside 16 records at most, and removes the others that cannot be used", () => {
    const { open, files, load } = disk();
    for (let index = 0; index < 20; index += 1) files.put(`${RECORDS}/${nameOf(record(String(index)))}`, "garbage");
    const found = load(open());
    const left = (part: string) => files.paths().filter((path) => path.includes(`/offline/${part}/`)).length;
    expect([found, left("aside") <= 32, left("aside") >= 16, left("records")]).toEqual([[], true, true, 0]);
  });

  it("leaves a record in place that the disk cannot read now", () => {
    const { open, files, load, run } = disk((operation) => (operation === "readInside" ? "Unavailable" : undefined));
    const store = open();
    run(store.write(nameOf(record("a")), record("a")));
    expect([load(open()), files.read(`${RECORDS}/${nameOf(record("a"))}`) !== undefined]).toEqual([[], true]);
  });
});
