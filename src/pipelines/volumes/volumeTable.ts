/**
 * The desired and the actual volumes of a pod, indexed as they change. Owner of the pod's entry in the cell
 * `volumes`. Its maps change in place, since a copy of thousands of volumes for each step would take quadratic time:
 * readers use the cell's value at once, and keep none of its maps.
 */
import type { PodUid } from "../../core/ids.ts";
import { NO_VOLUMES, type PodVolumes, type VolumeWish } from "../../core/volume/podVolumes.ts";
import { volumeKey } from "../../core/volume/volumeLayout.ts";
import type { ActualVolume } from "../../core/volume/volumePlan.ts";
import type { KeyedCell } from "../../state/keyedCell.ts";
import type { VolumeRecord, Wanted } from "./volumeWorker.ts";

/** The known facts about a volume of the pod, with the inputs of its worker once they are complete. */
export interface WantedWish {
  readonly wish: VolumeWish;
  readonly wanted: Wanted | undefined;
}

export interface VolumeTable {
  /** Replaces all wishes, by their names. */
  setAll(wishes: ReadonlyMap<string, WantedWish>): void;
  /** Replaces one wish. */
  set(name: string, wish: WantedWish): void;
  /** Returns whether the pod has a volume of that name. */
  has(name: string): boolean;
  /** Returns the key of a volume by its name; undefined while it is unknown. */
  keyOf(name: string): string | undefined;
  /** Returns the desired state of the volume with that key. */
  wanted(key: string): Wanted | undefined;
  /** Returns the keys of desired volumes, in the order of the pod's volumes. */
  wantedKeys(): readonly string[];
  /** Returns the keys of actual and desired volumes; a desired one may be in progress without a trace yet. */
  keys(): readonly string[];
  /** Returns whether the key of every desired volume is known. */
  isAllKnown(): boolean;
  /** Returns the place for the actual state of the volume with that key. */
  record(key: string): VolumeRecord;
}

/** The desired volumes with one key: two claims may name one volume. */
interface Wishes {
  readonly count: number;
  readonly wanted: Wanted | undefined;
}

class Table implements VolumeTable {
  private readonly uid: PodUid;
  private readonly volumes: KeyedCell<PodUid, PodVolumes>;
  private readonly wishes: Map<string, VolumeWish>;
  private readonly actual: Map<string, ActualVolume>;
  private readonly byKey = new Map<string, Wishes>();
  private mounted = 0;
  private refused = 0;
  private blocked = 0;
  private resolved = 0;

  constructor(uid: PodUid, volumes: KeyedCell<PodUid, PodVolumes>) {
    const { wishes, actual } = volumes.get(uid) ?? NO_VOLUMES;
    this.uid = uid;
    this.volumes = volumes;
    this.wishes = new Map(wishes);
    this.actual = new Map(actual);
    for (const wish of wishes.values()) this.count(wish, undefined);
  }

  setAll(wishes: ReadonlyMap<string, WantedWish>): void {
    if (wishes.size === 0 && this.wishes.size === 0) return;
    this.wishes.clear();
    this.byKey.clear();
    this.mounted = 0;
    this.refused = 0;
    this.blocked = 0;
    this.resolved = 0;
    for (const [name, { wish, wanted }] of wishes) {
      this.wishes.set(name, wish);
      this.count(wish, wanted);
    }
    this.notify();
  }

  set(name: string, { wish, wanted }: WantedWish): void {
    const before = this.wishes.get(name);
    if (before !== undefined) this.uncount(before);
    this.wishes.set(name, wish);
    this.count(wish, wanted);
    this.notify();
  }

  has(name: string): boolean {
    return this.wishes.has(name);
  }

  keyOf(name: string): string | undefined {
    const wish = this.wishes.get(name);
    return wish?.kind === "resolved" ? volumeKey(wish.layout) : undefined;
  }

  wanted(key: string): Wanted | undefined {
    return this.byKey.get(key)?.wanted;
  }

  wantedKeys(): readonly string[] {
    return [...this.byKey.keys()];
  }

  keys(): readonly string[] {
    return [...new Set([...this.actual.keys(), ...this.byKey.keys()])];
  }

  isAllKnown(): boolean {
    return this.resolved === this.wishes.size;
  }

  record(key: string): VolumeRecord {
    return { get: () => this.actual.get(key), set: (volume) => this.setActual(key, volume) };
  }

  private setActual(key: string, volume: ActualVolume | undefined): void {
    const wishes = this.byKey.get(key)?.count ?? 0;
    this.weigh(key, -wishes);
    if (volume === undefined) this.actual.delete(key);
    else this.actual.set(key, volume);
    this.weigh(key, wishes);
    this.notify();
  }

  private count(wish: VolumeWish, wanted: Wanted | undefined): void {
    if (wish.kind === "refused") this.refused += 1;
    if (wish.kind !== "resolved") return;
    const key = volumeKey(wish.layout);
    this.resolved += 1;
    this.byKey.set(key, { count: (this.byKey.get(key)?.count ?? 0) + 1, wanted });
    this.weigh(key, 1);
  }

  private uncount(wish: VolumeWish): void {
    if (wish.kind === "refused") this.refused -= 1;
    if (wish.kind !== "resolved") return;
    const key = volumeKey(wish.layout);
    const { count, wanted } = this.byKey.get(key) ?? { count: 1, wanted: undefined };
    this.resolved -= 1;
    if (count > 1) this.byKey.set(key, { count: count - 1, wanted });
    else this.byKey.delete(key);
    this.weigh(key, -1);
  }

  /** Counts `wishes` more volumes of that key, by their actual state. */
  private weigh(key: string, wishes: number): void {
    const { condition, isBlocked } = this.actual.get(key) ?? {};
    if (condition === "mounted") this.mounted += wishes;
    else if (isBlocked === true) this.blocked += wishes;
  }

  private notify(): void {
    const { wishes, actual, mounted, refused, blocked } = this;
    this.volumes.set(this.uid, { wishes, actual, unmounted: wishes.size - mounted, refused: refused + blocked });
  }
}

/** Creates the table of a pod, with the pod's entry of the cell. */
export const createVolumeTable = (uid: PodUid, volumes: KeyedCell<PodUid, PodVolumes>): VolumeTable =>
  new Table(uid, volumes);
