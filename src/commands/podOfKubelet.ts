/** Fetches pods from the kubelet that a command calls. */
import { map, type Observable, of, switchMap, throwError } from "rxjs";
import type { Pod } from "../core/api.ts";
import { kubeletError } from "../core/errors.ts";
import { askKubelet, type TextAnswer } from "../sinks/askKubelet.ts";
import { systemClock } from "../sources/systemClock.ts";
import { refusalOf, type TargetServer, unanswered } from "./targetServer.ts";
import { podPage } from "./showPage.ts";

/** Emits all pods. Errors: the server cannot be reached or rejects the request. */
export const podsOfKubelet = (server: TargetServer): Observable<readonly Pod[]> =>
  asked(server, "/debug/rxlet/pods").pipe(
    // Upstream's kubelet, and older versions of this one, list pods elsewhere.
    switchMap((answer) => (answer.status === 404 ? asked(server, "/pods") : of(answer))),
    map(({ status, text }) => {
      if (status === 200) return (JSON.parse(text) as { readonly items: readonly Pod[] }).items;
      const said = text.trim().slice(0, 1_000);
      throw refusalOf(server, status, said) ?? kubeletError("Unknown", `${server.name} answered ${status}: ${said}`);
    }),
  );

/** Emits the pod. Errors: NotFound with the reason why the kubelet does not have it. */
export const podOfKubelet = (server: TargetServer, namespace: string, name: string): Observable<Pod> =>
  podsOfKubelet(server).pipe(
    switchMap((pods) => {
      const found = pods.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
      return found === undefined ? missing(server, namespace, name) : of(found);
    }),
  );

/** Errors with the kubelet's explanation: a pod with a similar name, or the problems of a rejected manifest. */
const missing = (server: TargetServer, namespace: string, name: string): Observable<never> =>
  asked(server, `${podPage(namespace, name, "timeline")}?format=text`).pipe(
    switchMap(({ status, text }) => {
      const isSaid = status === 404 && /^(no )?pod /.test(text);
      const message = isSaid ? text.trim() : `no pod "${namespace}/${name}" on this node`;
      return throwError(() => kubeletError("NotFound", message));
    }),
  );

const asked = (server: TargetServer, path: string): Observable<TextAnswer> =>
  askKubelet("GET", `${server.url}${path}`, server.access, systemClock).pipe(unanswered(server));
