/**
 * Finds the volumes of earlier kubelets in the directories of pods: `pods/UID/volumes/PLUGIN/NAME`, and links to devices in
 * `pods/UID/volumeDevices/PLUGIN/NAME`. None counts as complete; desired volumes are set up again, which changes nothing if they are intact. Upstream: reconstruct.go.
 */
import { catchError, concat, defer, EMPTY, ignoreElements, type Observable, switchMap, tap } from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import { type PodUid, podUid } from "../../core/ids.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { podsDir, podVolumeDevicesDir, podVolumesDir, unescapePluginName } from "../../core/paths.ts";
import { NO_VOLUMES, podVolumesOf, type PodVolumes } from "../../core/volume/podVolumes.ts";
import { volumeKey } from "../../core/volume/volumeLayout.ts";
import type { ActualVolume } from "../../core/volume/volumePlan.ts";
import { inSequence } from "../../operators/inSequence.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { KeyedCell } from "../../state/keyedCell.ts";

type Ports = Pick<KubeletPorts, "files" | "telemetry">;
type Directories = Pick<KubeletConfig, "directories">;

/** Fills the cell. Never errors: an unreadable directory is logged, and read again before it is removed. */
export function restoreVolumes(
  ports: Ports,
  { directories }: Directories,
  volumes: KeyedCell<PodUid, PodVolumes>,
): Observable<never> {
  const { files, telemetry } = ports;
  const guarded = (read$: Observable<never>, path: string): Observable<never> =>
    read$.pipe(
      catchError((thrown: unknown) => {
        telemetry.metrics.count("reconstruct_volume_operations_errors_total");
        telemetry.log.warn("Cannot tell which volumes an earlier kubelet left", {
          path,
          error: toKubeletError(thrown),
        });
        return EMPTY;
      }),
    );
  const restorePod = (uid: PodUid): Observable<never> => {
    const found: ActualVolume[] = [];
    const top = podVolumesDir(directories, uid);
    const kinds = [
      { top, more: { isOwnDirectory: true } },
      { top: podVolumeDevicesDir(directories, uid), more: { isOwnDirectory: false, isBlock: true } },
    ] as const;
    const plugins$ = inSequence(kinds, (kind) =>
      namesBelow(files, kind.top).pipe(
        tap(({ escaped, name }) => {
          const path = `${kind.top}/${escaped}/${name}`;
          found.push({
            plugin: unescapePluginName(escaped),
            name,
            path,
            ...kind.more,
            condition: "uncertain",
            inputs: [],
          });
        }),
        ignoreElements(),
      ),
    );
    const recorded$ = defer(() => {
      if (found.length === 0) return EMPTY;
      telemetry.metrics.count("reconstruct_volume_operations_total", {}, found.length);
      const { wishes } = volumes.get(uid) ?? NO_VOLUMES;
      const actual = new Map(found.map((volume) => [volumeKey(volume), volume]));
      volumes.set(uid, podVolumesOf({ wishes, actual }));
      return EMPTY;
    });
    return guarded(concat(plugins$, recorded$), top);
  };
  const pods$ = files.list(podsDir(directories)).pipe(
    switchMap((uids) => inSequence(uids, (uid) => restorePod(podUid(uid)))),
    ignoreElements(),
  );
  return guarded(pods$, podsDir(directories));
}

/** Lists the volumes of each plugin in a directory. */
const namesBelow = (
  files: Ports["files"],
  top: string,
): Observable<{ readonly escaped: string; readonly name: string }> =>
  files
    .list(top)
    .pipe(
      switchMap((plugins) =>
        inSequence(plugins, (escaped) =>
          files.list(`${top}/${escaped}`).pipe(switchMap((names) => names.map((name) => ({ escaped, name })))),
        ),
      ),
    );
