/**
 * Subresources of pods, which this node serves under URLs of its own: the request goes on to the kubelet's route in the
 * same app, its connection with it. Upstream: the REST storage of pods in an API server, which asks the kubelet.
 */
import type { Context, Hono } from "hono";
import { firstValueFrom } from "rxjs";
import type { Pod } from "../../core/api.ts";
import { badRequest } from "../../core/apiObjects/refusals.ts";
import type { ObjectReader } from "../../ports/objectReader.ts";
import { failureAnswer, failureStatus, statusAnswer } from "./statusAnswer.ts";

const PATH = "/api/v1/namespaces/:namespace/pods/:name";
const STREAM_PATH = /^\/api\/v1\/namespaces\/[^/]+\/pods\/[^/]+\/(?:exec|attach|portforward)(?:\?|$)/;

/** Whether a URL is one whose connection may be handed on. */
export const isPodStreamUrl = (url: string): boolean => STREAM_PATH.test(url);

/** Names of streams here, and at the kubelet. */
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

/** Asks the kubelet's route for what was asked here. */
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

/** The one named, or the only one. Throws as an API server refuses. */
function containerOf({ metadata, spec }: Pod, named: string | null): string {
  const names = (containers: Pod["spec"]["initContainers"] = []): readonly string[] =>
    containers.map(({ name }) => name);
  const regular = names(spec.containers);
  const all = [...regular, ...names(spec.initContainers), ...names(spec.ephemeralContainers)];
  if (named !== null && named !== "") {
    if (all.includes(named)) return named;
    throw badRequest(`container ${named} is not valid for pod ${metadata.name}`);
  }
  const [only, second] = regular;
  if (only !== undefined && second === undefined) return only;
  throw badRequest(
    `a container name must be specified for pod ${metadata.name}, choose one of: [${regular.join(" ")}]`,
  );
}
