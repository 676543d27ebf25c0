/**
 * The table of claims and its file. Owner of the cell `claims`. Bound: one write at a time, which serves all callers that
 * wait for it. Upstream: claimInfoCache and its checkpoint.
 */
import { catchError, defer, EMPTY, ignoreElements, type Observable, tap, throwError } from "rxjs";
import { type ClaimInfos, NO_CLAIMS } from "../../core/dra/claimInfo.ts";
import { decodeClaims, encodeClaims, MAX_CLAIMS_FILE_BYTES } from "../../core/dra/claimsFile.ts";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { claimsStatePath } from "../../core/paths.ts";
import { deadline } from "../../operators/deadline.ts";
import { createSemaphore } from "../../operators/semaphore.ts";
import type { Call } from "../../ports/call.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { Cell } from "../../state/cell.ts";

const FILE_MODE = 0o600;
const READ_DEADLINE_MS = 5_000;

export interface ClaimTable {
  readonly value: ClaimInfos;
  set(infos: ClaimInfos): void;
  /** Reads the claims of earlier kubelets. Never errors. */
  load(): Observable<never>;
  /** Completes once the claims as they are now are on disk; costs nothing if they are already. */
  keep(): Call<void>;
  /** The file of an earlier kubelet cannot be read: pods of before may have claims that the table lacks. */
  readonly isIncomplete: boolean;
}

/** Creates the table; `load` has to complete before any other call. */
export function createClaimTable(
  { files, clock, telemetry }: Pick<KubeletPorts, "files" | "clock" | "telemetry">,
  { directories }: Pick<KubeletConfig, "directories">,
  claims: Cell<ClaimInfos>,
): ClaimTable {
  const path = claimsStatePath(directories);
  const gate = createSemaphore(1);
  /** The claims on disk. */
  let kept: ClaimInfos = NO_CLAIMS;
  let isIncomplete = false;
  const read = (text: string): void => {
    const decoded = decodeClaims(text);
    if (!decoded.ok) throw decoded.error;
    kept = decoded.value;
    claims.set(kept);
  };
  return {
    get value() {
      return claims.value;
    },
    set: (infos) => claims.set(infos),
    get isIncomplete() {
      return isIncomplete;
    },
    load: () =>
      files.readTail(path, MAX_CLAIMS_FILE_BYTES).pipe(
        deadline(READ_DEADLINE_MS, clock),
        tap(read),
        ignoreElements(),
        catchError((thrown: unknown) => {
          const error = toKubeletError(thrown);
          if (error.code === "NotFound") return EMPTY;
          isIncomplete = true;
          telemetry.log.error("Cannot read the claims of earlier pods; drivers are asked again", { path, error });
          return EMPTY;
        }),
      ),
    keep: () =>
      gate.run(
        defer(() => {
          const infos = claims.value;
          if (infos === kept) return EMPTY;
          const text = encodeClaims(infos);
          if (text.length > MAX_CLAIMS_FILE_BYTES) {
            const message = `the claims of this node take ${text.length} bytes, more than ${MAX_CLAIMS_FILE_BYTES}`;
            return throwError(() => kubeletError("ResourceExhausted", message));
          }
          const written = (): void => {
            kept = infos;
          };
          return files.replaceFile(path, text, FILE_MODE).pipe(tap({ complete: written }), ignoreElements());
        }),
      ),
  };
}
