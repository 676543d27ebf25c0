/**
 * Volumes of CSI, flexVolume and host disks that pods of this node use, each with its holders: the pods' volumes that wait
 * for it, have it, or may still have it.
 * Owner of the cell `volumesInUse`. Bounds: an entry per volume in use, one operation at a time on each. Upstream: the
 * attached volumes of pkg/kubelet/volumemanager/cache.
 */
import { type Observable, Subject } from "rxjs";
import { nodeVolumeName } from "../../core/csi/csiLayout.ts";
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

/** A volume of the node that no known pod has. */
export type KeptVolume = KeptStage | KeptDisk | KeptFlex;

/** A CSI volume that is staged, or may be. */
export interface KeptStage {
  readonly kind: "csi";
  readonly driver: string;
  readonly handle: string;
  /** Name of the PersistentVolume of a block volume, whose places have that name; absent for one with a file system. */
  readonly blockName?: string;
}

/** A disk of the network that is attached, or may be. */
export interface KeptDisk {
  readonly kind: "disk";
  readonly plugin: string;
  /** Its mount point, or the directory of its devices. */
  readonly directory: string;
  readonly isBlock: boolean;
}

/** A flexVolume that is mounted, or may be. */
export interface KeptFlex {
  readonly kind: "flex";
  readonly driver: string;
  readonly name: string;
}

export interface HeldVolumes {
  /**
   * Notes that a pod's volume uses it. `listedAs` are its names in the status of the Node, by default that of a CSI volume;
   * it has all names of its holders.
   */
  hold(name: string, holder: string, isAttachable: boolean, ...listedAs: readonly string[]): HeldVolume;
  /**
   * Notes that a pod's volume is gone, but not that of the node. Without another holder it is kept: in use until it is
   * released, or a pod has had it.
   */
  leave(holder: string, kept: KeptVolume): void;
  /** Emits each volume that its last pod has left. */
  readonly left$: Observable<KeptVolume>;
  /**
   * Notes a volume that an earlier kubelet has left to no known pod, unless one holds it. It is in use until it is released,
   * or a pod has had it. For `name` and `listedAs` see `hold`.
   */
  keep(name: string, kept: KeptVolume, ...listedAs: readonly string[]): void;
  /** Returns the volumes that are kept and that no pod has taken over. */
  kept(): readonly KeptVolume[];
  /** Returns a kept volume; undefined once a pod has taken it over. */
  keptVolume(kept: KeptVolume): HeldVolume | undefined;
  /** Notes that the node has a kept volume no more. */
  release(kept: KeptVolume): void;
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
  /** Present while no known pod has it. */
  kept: KeptVolume | undefined;
  isAttachable: boolean;
  readonly listedAs: Set<string>;
}

/** Creates the only owner of the cell. */
export function createHeldVolumes(inUse: Cell<readonly string[] | undefined>): HeldVolumes {
  const entries = new Map<string, Entry>();
  const names = new Map<string, string>();
  const left$ = new Subject<KeptVolume>();
  const labels = labelSteps((holder) => entries.get(names.get(holder) ?? ""));
  let isLoaded = false;
  const publish = (): void => {
    if (!isLoaded) return;
    const list = [...entries].flatMap(([, { isAttachable, listedAs }]) => (isAttachable ? [...listedAs] : [])).sort();
    if (inUse.value === undefined || !sameItems(inUse.value, list)) inUse.set(list);
  };
  return {
    hold: (name, holder, isAttachable, ...listedAs) => {
      const entry = entries.get(name) ?? newEntry(isAttachable);
      for (const each of listNames(name, listedAs)) entry.listedAs.add(each);
      entries.set(name, entry);
      entry.holders.add(holder);
      entry.kept = undefined;
      entry.isAttachable = isAttachable;
      names.set(holder, name);
      publish();
      return entry;
    },
    leave: (holder, kept) => {
      const entry = entries.get(names.get(holder) ?? "");
      names.delete(holder);
      if (entry === undefined) return;
      for (const set of [entry.holders, entry.users, entry.labelled]) set.delete(holder);
      if (entry.users.size + entry.labelled.size === 0) labels.wake(entry);
      if (entry.holders.size > 0) return;
      entry.kept = kept;
      left$.next(kept);
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

const listNames = (name: string, listedAs: readonly string[]): readonly string[] =>
  listedAs.length > 0 ? listedAs : [nodeVolumeName(name)];

type KeptSteps = Pick<HeldVolumes, "keep" | "kept" | "keptVolume" | "release">;

/** Returns the steps of volumes that no pod has. */
const keptSteps = (entries: Map<string, Entry>, publish: () => void): KeptSteps => ({
  keep: (name, kept, ...listedAs) => {
    if (entries.has(name)) return;
    entries.set(name, { ...newEntry(true), isFound: true, kept, listedAs: new Set(listNames(name, listedAs)) });
    publish();
  },
  kept: () => [...entries.values()].flatMap(({ kept }) => kept ?? []),
  keptVolume: (wanted) => [...entries.values()].find(({ kept }) => kept === wanted),
  release: (released) => {
    const [name] = [...entries].find(([, { kept }]) => kept === released) ?? [];
    if (name === undefined) return;
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
