import { expect, it } from "vitest";
import { podUid } from "../../../../src/core/ids.ts";
import { freshRecord } from "../../../../src/core/pod/podRecord.ts";
import { emptyRegistry, type PodRecord } from "../../../../src/core/pod/podRegistry.ts";
import { createRecordsByName } from "../../../../src/pipelines/cluster/recordsByName.ts";
import { createCell } from "../../../../src/state/cell.ts";

const recordOf = (uid: string, name: string): PodRecord =>
  freshRecord({ uid: podUid(uid), namespace: "default", name });

const FIRST = recordOf("1", "web");
const SECOND = recordOf("2", "web");
const OTHER = recordOf("3", "db");

/** An index that has seen these records. */
function indexOf(...records: readonly PodRecord[]) {
  const registry = createCell({ ...emptyRegistry, records: new Map<PodRecord["identity"]["uid"], PodRecord>() });
  const index = createRecordsByName(registry);
  const set = (...next: readonly PodRecord[]): void =>
    registry.set({ ...registry.value, records: new Map(next.map((record) => [record.identity.uid, record])) });
  set(...records);
  index.changed();
  return { index, set };
}

it("has the records of a name in the order of the registry", () => {
  const { index } = indexOf(FIRST, OTHER, SECOND);
  expect(index.of("default/web")).toEqual([FIRST, SECOND]);
  expect(index.of("default/none")).toEqual([]);
  expect([...index.names()]).toEqual(["default/web", "default/db"]);
});

it("keeps the place of a record that changes", () => {
  const { index, set } = indexOf(FIRST, SECOND);
  const changed = { ...FIRST, wanted: false };
  set(changed, SECOND);
  expect(index.of("default/web")).toEqual([changed, SECOND]);
});

it("forgets a name with its last record", () => {
  const { index, set } = indexOf(FIRST, OTHER);
  set(OTHER);
  expect(index.of("default/web")).toEqual([]);
  expect([...index.names()]).toEqual(["default/db"]);
});

it.each<[title: string, next: readonly PodRecord[], names: readonly string[]]>([
  ["a new record", [FIRST, OTHER, SECOND], ["default/web"]],
  ["a changed record", [FIRST, { ...OTHER, wanted: false }], ["default/db"]],
  ["a record that is gone", [OTHER], ["default/web"]],
  ["no record", [FIRST, OTHER], []],
])("tells the name of %s, once", (_, next, names) => {
  const { index, set } = indexOf(FIRST, OTHER);
  set(...next);
  // A reader between the change and the question takes nothing away.
  index.of("default/db");
  expect(index.changed()).toEqual(names);
  expect(index.changed()).toEqual([]);
});
