/**
 * The records of the registry by `namespace/name`, followed change by change: a burst of pods changes the registry many times,
 * and each change concerns few of them. Owned by the pod writer; no cell. Bound: one entry per name of a record.
 */
import type { PodUid } from "../../core/ids.ts";
import type { PodRecord, Registry } from "../../core/pod/podRegistryTypes.ts";
import type { ReadonlyCell } from "../../state/cell.ts";

export interface RecordsByName {
  /** The records of this name, in the order of the registry. */
  of(name: string): readonly PodRecord[];
  names(): Iterable<string>;
  /** The names of records that are new, changed or gone since the last call. */
  changed(): readonly string[];
}

/** Returns the name of the pod's object at the API server. */
export const nameOf = ({ identity }: PodRecord): string => `${identity.namespace}/${identity.name}`;

/** Creates the index; it reads the registry when it is asked. */
export function createRecordsByName(registry: ReadonlyCell<Registry>): RecordsByName {
  const byName = new Map<string, readonly PodRecord[]>();
  let indexed: Registry["records"] = new Map();
  let changed = new Set<string>();
  /** Replaces the record of a pod in place; undefined removes it. */
  const put = (name: string, uid: PodUid, record: PodRecord | undefined): void => {
    changed.add(name);
    const known = byName.get(name) ?? [];
    const at = known.findIndex(({ identity }) => identity.uid === uid);
    const next = record === undefined ? known.toSpliced(at, 1) : known.toSpliced(at < 0 ? known.length : at, 1, record);
    if (next.length === 0) byName.delete(name);
    else byName.set(name, next);
  };
  const follow = (): void => {
    const { records } = registry.value;
    if (records === indexed) return;
    const before = indexed;
    indexed = records;
    before.forEach((record, uid) => {
      if (!records.has(uid)) put(nameOf(record), uid, undefined);
    });
    records.forEach((record, uid) => {
      if (before.get(uid) !== record) put(nameOf(record), uid, record);
    });
  };
  return {
    of(name) {
      follow();
      return byName.get(name) ?? [];
    },
    names() {
      follow();
      return byName.keys();
    },
    changed() {
      follow();
      const names = [...changed];
      changed = new Set();
      return names;
    },
  };
}
