/** `/rxlet/v1/manifests`: apply and removal of manifests, for clients of the local socket. Not in upstream. */
import type { Context, Hono } from "hono";
import { firstValueFrom } from "rxjs";
import { type ErrorCode, toKubeletError } from "../../core/errors.ts";
import { type AppliedRef, kindOfWord, refText } from "../../core/local/appliedManifests.ts";
import type { LocalPeer } from "../../core/local/localSocket.ts";
import { MANIFESTS_PATH, MAX_APPLY_BYTES } from "../../core/local/manifestRequests.ts";
import type { LocalManifests } from "../../ports/localManifests.ts";
import type { Logger } from "../../ports/telemetry.ts";

/** Bodies of these routes. */
export const MANIFEST_BODIES: ReadonlyMap<string, number> = new Map([[MANIFESTS_PATH, MAX_APPLY_BYTES]]);

export interface ManifestRouteOptions {
  readonly manifests: LocalManifests;
  readonly log: Pick<Logger, "info">;
  /** Returns the client of a request. */
  peerOf(context: Context): LocalPeer;
}

const STATUS: Readonly<Partial<Record<ErrorCode, 400 | 404 | 409 | 413>>> = {
  InvalidArgument: 400,
  NotFound: 404,
  Conflict: 409,
  ResourceExhausted: 413,
};

const MISSING = 404;
const UNPROCESSABLE = 422;

/** Adds the routes. A refused manifest has status 422 and its problems; other refusals have their reason as text. */
export function addManifestRoutes(app: Hono, { manifests, log, peerOf }: ManifestRouteOptions): void {
  const isDry = (context: Context): boolean => context.req.query("dryRun") === "true";
  app.post(MANIFESTS_PATH, async (context) => {
    try {
      const bytes = new Uint8Array(await context.req.arrayBuffer());
      const answer = await firstValueFrom(manifests.apply(bytes, isDry(context)));
      if (answer.changes === undefined) return context.json(answer, UNPROCESSABLE);
      const objects = answer.changes.filter(({ outcome }) => outcome !== "unchanged").map(refText);
      if (objects.length > 0 && !isDry(context)) log.info("Manifests applied", { uid: peerOf(context).uid, objects });
      return context.json(answer);
    } catch (thrown) {
      return refusal(context, thrown);
    }
  });
  app.delete(`${MANIFESTS_PATH}/:kind/:name`, async (context) => {
    const { kind: word, name } = context.req.param();
    const kind = kindOfWord(word);
    if (kind === undefined) return context.text(`there is no kind ${JSON.stringify(word)}\n`, MISSING);
    const namespace = kind === "runtimeclass.node.k8s.io" ? "" : (context.req.query("namespace") ?? "default");
    const ref: AppliedRef = { kind, namespace, name };
    try {
      const removed = await firstValueFrom(manifests.remove(ref, isDry(context)));
      if (!isDry(context)) log.info("Manifest removed", { uid: peerOf(context).uid, object: refText(removed) });
      return context.json(removed);
    } catch (thrown) {
      return refusal(context, thrown);
    }
  });
}

function refusal(context: Context, thrown: unknown): Response {
  const { code, message } = toKubeletError(thrown);
  return context.text(`${message}\n`, STATUS[code] ?? 500);
}
