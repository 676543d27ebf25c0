/**
 * Volumes of CSI, flexVolume and host disks that pods of this node use, each with its holders: the pods' volumes that wait
 * for it, have it, or may still have it.
 * Owner of the cell `volumesInUse`. Bounds: an entry per volume in use, one operation at a time on each. Upstream: the
 * attached volumes of pkg/kubelet/volumemanager/cache.
 */
import { type Observable, Subject } from "rxjs";
import { csiVolumeName, nodeVolumeName } from "../../core/csi/csiLayout.ts";
import { sameItems } from "../../core/sameValue.ts";
import { labelWait } from "../../core/selinux/labelledLayout.ts";
import { createSemaphore, type Semaphore } from "../../operators/semaphore.ts";
import type { Cell } from "../../state/cell.ts";

/** A volume that pods use, from their first wait to the end of their tear down. */
export interface HeldVolume {
  /** Serializes its operations: stage and publish, unpublish and unstage. */
  readonly turns: Pick<Semaphore, "run">;
  /** Volumes of pods, by `holderOf`. */
  readonly holders: ReadonlySet<string>;
  /** Holders whose volume is mounted, or may be. */
  readonly users: Set<string>;
  /** Its names in the status of the Node. */
  readonly listedAs: ReadonlySet<string>;
  /** Whether an earlier kubelet has left it. */
  isFound: boolean;
  /** Whether this kubelet has staged it. */
  isStaged: boolean;
  /** SELinux label with which it is mounted, or may be; undefined: it is not mounted, or its label does not matter. */
  label: string | undefined;
  /** Holders that have, or may have, the mount with that label. */
  readonly labelled: Set<string>;
  /** A pod waits until it is unmounted, because it needs another label. */
  isAwaited: boolean;
}

/** A CSI volume that is staged, or may be, for no known pod. */
export interface KeptStage {
  readonly driver: string;
  readonly handle: string;
  /** Name of the PersistentVolume of a block volume, whose places have that name; absent for one with a file system. */
  readonly blockName?: string;
}

/** Returns whether the disk of the node goes with this pod's: no other pod may have it, or will have it as it is mounted. */
export const isLastUse = ({ holders, users, labelled, isAwaited }: HeldVolume, holder: string): boolean =>
  holders.size <= 1 || (isAwaited && [...users, ...labelled].every((user) => user === holder));

export interface HeldVolumes {
  /**
   * Notes that a pod's volume uses it. `listedAs` are its names in the status of the Node, by default that of a CSI volume;
   * it has all names of its holders.
   */
  hold(name: string, holder: string, isAttachable: boolean, ...listedAs: readonly string[]): HeldVolume;
  /** Notes that a pod's volume is gone. */
  drop(holder: string): void;
  /**
   * Notes that a pod's volume is gone, but not that of the node. Without another holder it is kept: in use until it is
   * released, or a pod has had it.
   */
  leave(holder: string, stage: KeptStage): void;
  /** Emits each volume that its last pod has left. */
  readonly left$: Observable<KeptStage>;
  /** Notes a volume that an earlier kubelet has staged for no known pod. It is in use until it is released, or a pod has had it. */
  keep(stage: KeptStage): void;
  /** Returns the volumes that are kept and that no pod has taken over. */
  kept(): readonly KeptStage[];
  /** Returns the volume of a kept stage; undefined once a pod has taken it over. */
  keptVolume(stage: KeptStage): HeldVolume | undefined;
  /** Notes that a kept volume is unstaged. */
  release(stage: KeptStage): void;
  /** Returns the volume of a holder. */
  of(holder: string): { readonly name: string; readonly volume: HeldVolume } | undefined;
  /**
   * Returns why a pod's volume waits for pods with another SELinux label, which it asks for; undefined: it need not. `volumeName`
   * is the name of the volume in the status of the Node.
   */
  labelWait(holder: string, label: string | undefined, volumeName: string): string | undefined;
  /** Notes that a pod's volume mounts it with this label from now on; undefined: the label does not matter. */
  mounting(volume: HeldVolume, holder: string, label: string | undefined): void;
  /** Notes that the volume is unmounted, so pods with any label may mount it. */
  unmounted(volume: HeldVolume): void;
  /** Emits when no pod has a volume any more for which a pod with another label waits. */
  readonly unmounted$: Observable<unknown>;
  /** All volumes of earlier kubelets are known: the cell has a value from now on. */
  loaded(): void;
}

/** Returns the name of a pod's volume. */
export const holderOf = (uid: string, volume: string): string => `${uid}/${volume}`;

interface Entry extends HeldVolume {
  readonly holders: Set<string>;
  /** Present while it is staged for no known pod. */
  kept: KeptStage | undefined;
  isAttachable: boolean;
  readonly listedAs: Set<string>;
}

/** Creates the only owner of the cell. */
export function createHeldVolumes(inUse: Cell<readonly string[] | undefined>): HeldVolumes {
  const entries = new Map<string, Entry>();
  const names = new Map<string, string>();
  const left$ = new Subject<KeptStage>();
  const labels = labelSteps((holder) => entries.get(names.get(holder) ?? ""));
  let isLoaded = false;
  const publish = (): void => {
    if (!isLoaded) return;
    const list = [...entries].flatMap(([, { isAttachable, listedAs }]) => (isAttachable ? [...listedAs] : [])).sort();
    if (inUse.value === undefined || !sameItems(inUse.value, list)) inUse.set(list);
  };
  /** Returns the volume that the holder had, with its name. */
  const takeFrom = (holder: string): readonly [name: string, entry: Entry] | undefined => {
    const name = names.get(holder);
    const entry = name === undefined ? undefined : entries.get(name);
    names.delete(holder);
    if (name === undefined || entry === undefined) return undefined;
    for (const set of [entry.holders, entry.users, entry.labelled]) set.delete(holder);
    return [name, entry];
  };
  return {
    hold: (name, holder, isAttachable, ...listedAs) => {
      const entry = entries.get(name) ?? newEntry(isAttachable);
      for (const each of listedAs.length > 0 ? listedAs : [nodeVolumeName(name)]) entry.listedAs.add(each);
      entries.set(name, entry);
      entry.holders.add(holder);
      entry.kept = undefined;
      entry.isAttachable = isAttachable;
      names.set(holder, name);
      publish();
      return entry;
    },
    drop: (holder) => {
      const [name = "", entry] = takeFrom(holder) ?? [];
      if (entry === undefined) return;
      if (entry.holders.size === 0) entries.delete(name);
      publish();
    },
    leave: (holder, stage) => {
      const [, entry] = takeFrom(holder) ?? [];
      if (entry === undefined) return;
      if (entry.labelled.size === 0) labels.wake(entry);
      if (entry.holders.size > 0) return;
      entry.kept = stage;
      left$.next(stage);
    },
    left$,
    ...keptSteps(entries, publish),
    of: (holder) => {
      const name = names.get(holder);
      const volume = name === undefined ? undefined : entries.get(name);
      return name === undefined || volume === undefined ? undefined : { name, volume };
    },
    ...labels,
    loaded: () => {
      isLoaded = true;
      publish();
    },
  };
}

type KeptSteps = Pick<HeldVolumes, "keep" | "kept" | "keptVolume" | "release">;

/** Returns the steps of volumes that no pod has. */
const keptSteps = (entries: Map<string, Entry>, publish: () => void): KeptSteps => ({
  keep: (kept) => {
    const name = csiVolumeName(kept.driver, kept.handle);
    if (entries.has(name)) return;
    entries.set(name, { ...newEntry(true), isFound: true, kept, listedAs: new Set([nodeVolumeName(name)]) });
    publish();
  },
  kept: () => [...entries.values()].flatMap(({ kept }) => kept ?? []),
  keptVolume: (stage) => [...entries.values()].find(({ kept }) => kept === stage),
  release: (stage) => {
    const name = csiVolumeName(stage.driver, stage.handle);
    if (entries.get(name)?.kept !== stage) return;
    entries.delete(name);
    publish();
  },
});

interface LabelSteps extends Pick<HeldVolumes, "labelWait" | "mounting" | "unmounted" | "unmounted$"> {
  /** Wakes the pods that wait for the volume. */
  wake(volume: HeldVolume): void;
}

/** Returns the steps of SELinux labels; `of` has the volume of a holder. */
function labelSteps(of: (holder: string) => Entry | undefined): LabelSteps {
  const unmounted$ = new Subject<void>();
  const wake = (volume: HeldVolume): void => {
    if (!volume.isAwaited) return;
    volume.isAwaited = false;
    unmounted$.next();
  };
  return {
    wake,
    labelWait: (holder, label, volumeName) => {
      const entry = of(holder);
      const wait = entry && labelWait(entry, label, holder, volumeName);
      if (entry !== undefined && wait !== undefined) entry.isAwaited = true;
      return wait;
    },
    mounting: (volume, holder, label) => {
      volume.label = label;
      volume.labelled.add(holder);
    },
    unmounted: (volume) => {
      volume.label = undefined;
      volume.labelled.clear();
      wake(volume);
    },
    unmounted$,
  };
}

const newEntry = (isAttachable: boolean): Entry => ({
  turns: createSemaphore(1),
  holders: new Set(),
  users: new Set(),
  isFound: false,
  isStaged: false,
  kept: undefined,
  label: undefined,
  labelled: new Set(),
  isAwaited: false,
  isAttachable,
  listedAs: new Set(),
});
