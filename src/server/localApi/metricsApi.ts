/**
 * The resource metrics API, `metrics.k8s.io/v1beta1`, for `kubectl top`. Stateless: each request measures twice.
 * Upstream: metrics-server. Differs from upstream: measures on request instead of every 15 s, so that an idle endpoint
 * causes no measurements; a watch is not supported.
 */
import type { Context, Hono } from "hono";
import { concatMap, firstValueFrom, type Observable, timer, toArray, concat } from "rxjs";
import type { Pod } from "../../core/api.ts";
import type { ApiResourceName } from "../../core/api/apiResources.ts";
import { METRICS_GROUP } from "../../core/apiObjects/discovery.ts";
import {
  type MeasuredTwice,
  metricsList,
  metricsResourceList,
  nodeMetrics,
  type NodeMetrics,
  podMetrics,
  type PodMetrics,
} from "../../core/stats/metricsApi.ts";
import type { Clock } from "../../ports/clock.ts";
import type { NodeStats } from "../../ports/nodeStats.ts";
import type { ObjectReader } from "../../ports/objectReader.ts";
import { failureAnswer, failureStatus, statusAnswer } from "./statusAnswer.ts";

const ROOT = "/apis/metrics.k8s.io";
const PATH = `${ROOT}/v1beta1`;
/** Time between the two measurements, in milliseconds; longer than the second for which callers share a result. */
const WINDOW_MS = 1_500;

interface Options {
  readonly objects: ObjectReader;
  readonly stats: Pick<NodeStats, "cpuAndMemory">;
  readonly clock: Pick<Clock, "scheduler">;
}

/** Adds discovery, the lists and the single objects. */
export function addMetricsApi(app: Hono, options: Options): void {
  const { objects } = options;
  app.get(ROOT, (context) => context.json({ kind: "APIGroup", apiVersion: "v1", ...METRICS_GROUP }));
  app.get(PATH, (context) => context.json(metricsResourceList()));
  const route = (path: string, answer: (context: Context, selection: Selection) => Promise<Response>): void => {
    app.get(`${PATH}${path}`, async (context) => {
      try {
        return await answer(context, selectionOf(context));
      } catch (thrown) {
        return failureAnswer(context, thrown);
      }
    });
  };
  const nodesOf = async (found: readonly Named[]): Promise<readonly NodeMetrics[]> => {
    if (found.length === 0) return [];
    const measured = await firstValueFrom(measureTwice(options));
    return found.flatMap(({ metadata }) => {
      const item = metadata.name === measured.after.node.nodeName ? nodeMetrics(measured, metadata.labels) : undefined;
      return item === undefined ? [] : [item];
    });
  };
  const podsOf = async (found: readonly Pod[]): Promise<readonly PodMetrics[]> => {
    const isRunning = found.some(({ status }) => status?.phase === "Running");
    return isRunning ? podMetrics(await firstValueFrom(measureTwice(options)), found) : [];
  };
  const listed = async <Item>(resource: ApiResourceName, selection: Selection): Promise<readonly Item[]> =>
    (await firstValueFrom(objects.list(resource, selection))).items as readonly Item[];

  route("/nodes", async (context, selection) =>
    context.json(metricsList("NodeMetrics", await nodesOf(await listed<Named>("nodes", selection)))),
  );
  route("/nodes/:name", async (context) => {
    const { name = "" } = context.req.param() as Names;
    const node = (await firstValueFrom(objects.get("nodes", { name }))) as unknown as Named;
    const [found] = await nodesOf([node]);
    return found === undefined ? missing(context, "nodes", name) : context.json(found);
  });
  for (const path of ["/pods", "/namespaces/:namespace/pods"]) {
    route(path, async (context, selection) =>
      context.json(metricsList("PodMetrics", await podsOf(await listed<Pod>("pods", selection)))),
    );
  }
  route("/namespaces/:namespace/pods/:name", async (context) => {
    const { namespace = "", name = "" } = context.req.param() as Names;
    const pod = (await firstValueFrom(objects.get("pods", { namespace, name }))) as Pod;
    const [found] = await podsOf([pod]);
    return found === undefined ? missing(context, "pods", `${namespace}/${name}`) : context.json(found);
  });
}

interface Names {
  readonly namespace?: string;
  readonly name?: string;
}

interface Named {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

interface Selection {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

function selectionOf({ req }: Context): Selection {
  const { namespace } = req.param() as Names;
  const [labelSelector, fieldSelector] = [req.query("labelSelector"), req.query("fieldSelector")];
  return {
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== undefined && { labelSelector }),
    ...(fieldSelector !== undefined && { fieldSelector }),
  };
}

const measureTwice = ({ stats, clock }: Options): Observable<MeasuredTwice> =>
  concat(stats.cpuAndMemory(), timer(WINDOW_MS, clock.scheduler).pipe(concatMap(() => stats.cpuAndMemory()))).pipe(
    toArray(),
    concatMap(([before, after]) => (before === undefined || after === undefined ? [] : [{ before, after }])),
  );

const missing = (context: Context, resource: string, name: string): Response =>
  statusAnswer(context, failureStatus(404, `${resource}.metrics.k8s.io "${name}" not found`));
