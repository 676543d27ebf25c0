/**
 * Pod subresources. Each request is forwarded, together with its connection, to the kubelet route in the same app.
 * Upstream: the REST storage of pods in the API server, which calls the kubelet.
 */
import type { Context, Hono } from "hono";
import { firstValueFrom } from "rxjs";
import type { Pod } from "../../core/api.ts";
import { badRequest } from "../../core/apiObjects/refusals.ts";
import { allContainers } from "../../core/pod/containers.ts";
import type { ObjectReader } from "../../ports/objectReader.ts";
import { failureAnswer, failureStatus, statusAnswer } from "./statusAnswer.ts";

const PATH = "/api/v1/namespaces/:namespace/pods/:name";
const STREAM_PATH = /^\/api\/v1\/namespaces\/[^/]+\/pods\/[^/]+\/(?:exec|attach|portforward)(?:\?|$)/;

/** Returns whether a URL is a streaming subresource, whose connection may be upgraded. */
export const isPodStreamUrl = (url: string): boolean => STREAM_PATH.test(url);

/** Stream names in the pod API, mapped to those of the kubelet API. */
const STREAMS = { stdin: "input", stdout: "output", stderr: "error", tty: "tty" } as const;

/** Adds log, exec, attach and portforward. */
export function addPodSubresources(app: Hono, objects: ObjectReader): void {
  app.get(`${PATH}/log`, async (context) => {
    const answer = await handOn(app, context, objects, (pod, query) => {
      const container = containerOf(pod, query.get("container"));
      query.delete("container");
      return [...["containerLogs", pod.metadata.namespace, pod.metadata.name, container], query];
    });
    if (answer.ok || answer.headers.get("content-type")?.startsWith("application/json") === true) return answer;
    return statusAnswer(context, failureStatus(answer.status, await answer.text()));
  });
  for (const verb of ["exec", "attach"] as const) {
    app.on(["GET", "POST"], `${PATH}/${verb}`, (context) =>
      handOn(app, context, objects, (pod, query) => {
        const container = containerOf(pod, query.get("container"));
        const asked = new URLSearchParams(query.getAll("command").map((word): [string, string] => ["command", word]));
        for (const [from, to] of Object.entries(STREAMS)) if (query.get(from) === "true") asked.set(to, "1");
        return [...[verb, pod.metadata.namespace, pod.metadata.name, container], asked];
      }),
    );
  }
  app.on(["GET", "POST"], `${PATH}/portforward`, (context) =>
    handOn(app, context, objects, (pod, query) => {
      const ports = query.getAll("ports").map((port): [string, string] => ["port", port]);
      return ["portForward", pod.metadata.namespace, pod.metadata.name, new URLSearchParams(ports)];
    }),
  );
}

type KubeletUrl = readonly [...steps: string[], query: URLSearchParams];

/** Forwards the request to the kubelet route. */
async function handOn(
  app: Hono,
  context: Context,
  objects: ObjectReader,
  urlFor: (pod: Pod, query: URLSearchParams) => KubeletUrl,
): Promise<Response> {
  try {
    const { namespace = "", name = "" } = context.req.param();
    const pod = (await firstValueFrom(objects.get("pods", { namespace, name }))) as Pod;
    const { searchParams, origin } = new URL(context.req.url);
    const parts = urlFor(pod, new URLSearchParams(searchParams));
    const steps = parts.slice(0, -1).map((step) => encodeURIComponent(String(step)));
    const url = `${origin}/${steps.join("/")}?${String(parts.at(-1))}`;
    const { method, headers, signal } = context.req.raw;
    return await app.fetch(new Request(url, { method, headers, signal }), context.env as object);
  } catch (thrown) {
    return failureAnswer(context, thrown);
  }
}

/** Returns the named container, or the only one. Throws the error of an API server otherwise. */
function containerOf({ metadata, spec }: Pod, named: string | null): string {
  const regular = spec.containers.map(({ name }) => name);
  if (named !== null && named !== "") {
    if (allContainers(spec).some(({ name }) => name === named)) return named;
    throw badRequest(`container ${named} is not valid for pod ${metadata.name}`);
  }
  const [only, second] = regular;
  if (only !== undefined && second === undefined) return only;
  throw badRequest(
    `a container name must be specified for pod ${metadata.name}, choose one of: [${regular.join(" ")}]`,
  );
}
