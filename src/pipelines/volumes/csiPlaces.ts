/**
 * Directories and records that exist before a driver stages or publishes a volume, and their removal after an answer that
 * nothing has changed. Stateless. A file `vol_data.json` is written before the driver is called: a later kubelet finds the volume by it.
 */
import { concat, ignoreElements, type Observable } from "rxjs";
import { globalMount } from "../../core/csi/csiLayout.ts";
import type { CsiLayout } from "../../core/csi/csiVolumeLayout.ts";
import { blockVolData, podVolData, stageVolData, VOL_DATA } from "../../core/csi/volData.ts";
import { linkDevice } from "./blockMaps.ts";
import { clearBlockStage, removeEmpty } from "./csiRemains.ts";
import type { RemovalPorts } from "./removeUnmounted.ts";

/** A place that a driver fills. */
export interface CsiPlace {
  readonly prepared$: Observable<never>;
  /** Removes its traces. */
  readonly cleared$: Observable<never>;
}

const PRIVATE_MODE = 0o750;
const DATA_MODE = 0o600;

type Staged = CsiLayout & { readonly stageDir: string };

/**
 * Returns the place of a staged volume; `name` is that of the volume. Differs from upstream: the record of the pod's volume is
 * written first, so a kubelet that is killed before it publishes the volume loses no staged one.
 */
export function stagePlace(ports: RemovalPorts, csi: Staged, name: string, nodeName: string): CsiPlace {
  const { block, stageDir } = csi;
  const { files } = ports;
  if (block !== undefined) {
    const prepared$ = files.makeDirectory(block.staging, PRIVATE_MODE).pipe(ignoreElements());
    return { prepared$, cleared$: clearBlockStage(ports, block) };
  }
  const { directory, target } = csi;
  const prepared$ = concat(
    recordMount(ports, csi, name, nodeName),
    files.makeDirectory(globalMount(stageDir), PRIVATE_MODE),
    files.replaceFile(`${stageDir}/${VOL_DATA}`, stageVolData(csi), DATA_MODE),
  ).pipe(ignoreElements());
  const cleared$ = concat(removeEmpty(ports, stageDir, globalMount(stageDir)), removeEmpty(ports, directory, target));
  return { prepared$, cleared$ };
}

/** Returns the place of a published volume; `name` is that of the volume. */
export function publishPlace(ports: RemovalPorts, csi: CsiLayout, name: string, nodeName: string): CsiPlace {
  const { block, directory, target, stageDir } = csi;
  if (block !== undefined) {
    const prepared$ = ports.files.makeDirectory(block.publishDir, PRIVATE_MODE).pipe(ignoreElements());
    // The link of the pod stays for the tear down: the volume is still staged.
    return { prepared$, cleared$: concat() };
  }
  // Differs from upstream: the record of a staged volume stays, so a later kubelet finds the volume and unstages it.
  const cleared$ = stageDir === undefined ? removeEmpty(ports, directory, target) : concat();
  return { prepared$: recordMount(ports, csi, name, nodeName), cleared$ };
}

const recordMount = ({ files }: RemovalPorts, csi: CsiLayout, name: string, nodeName: string): Observable<never> =>
  concat(
    files.makeDirectory(csi.directory, PRIVATE_MODE),
    files.replaceFile(`${csi.directory}/${VOL_DATA}`, podVolData(csi, name, nodeName), DATA_MODE),
  ).pipe(ignoreElements());

/** Records a block volume before its driver is called; one with a file system has a record in each place. */
export function recordBlock(ports: RemovalPorts, csi: CsiLayout, name: string, nodeName: string): Observable<never> {
  const { block } = csi;
  if (block === undefined) return concat();
  const { files } = ports;
  return concat(
    files.makeDirectory(block.dataDir, PRIVATE_MODE),
    files.replaceFile(`${block.dataDir}/${VOL_DATA}`, blockVolData(csi, name, nodeName), DATA_MODE),
    linkDevice(ports, block.link, block.publish),
  ).pipe(ignoreElements());
}
