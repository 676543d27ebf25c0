/**
 * The images of the node: listed at the start, after each pull and removal, and every five minutes. Owner of the images cell.
 * Bound: one listing at a time. Upstream: the image cache of pkg/kubelet/images.
 */
import { auditTime, catchError, EMPTY, ignoreElements, merge, type Observable, of, tap } from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import type { NodeImage } from "../../core/node/nodeFacts.ts";
import { sameValue } from "../../core/sameValue.ts";
import { conflateMap } from "../../operators/conflateMap.ts";
import { pollAfter } from "../../operators/pollAfter.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { Cell } from "../../state/cell.ts";

/** Upstream's period of image garbage collection. */
const PERIOD_MS = 300_000;
/** Pulls and removals within this time share one listing. */
const SETTLE_MS = 1_000;

/** Keeps the cell current while subscribed; a failed listing leaves it unchanged. */
export function nodeImages(
  inputs: { readonly imagesChanged$: Observable<unknown> },
  { images, clock, telemetry }: Pick<KubeletPorts, "images" | "clock" | "telemetry">,
  cell: Cell<readonly NodeImage[] | undefined>,
): Observable<never> {
  const due$ = pollAfter(clock, PERIOD_MS, () => of(undefined));
  return merge(due$, inputs.imagesChanged$.pipe(auditTime(SETTLE_MS, clock.scheduler))).pipe(
    conflateMap(() =>
      images.listImages({ filter: undefined }).pipe(
        catchError((thrown: unknown) => {
          telemetry.log.warn("Cannot list images", { error: toKubeletError(thrown) });
          return EMPTY;
        }),
      ),
    ),
    tap((answer) => {
      const found = answer.images.map(({ id, repoDigests, repoTags, size }) => ({ id, repoDigests, repoTags, size }));
      if (!sameValue(found, cell.value)) cell.set(found);
    }),
    ignoreElements(),
  );
}
