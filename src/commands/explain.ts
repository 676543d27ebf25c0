/** `rxlet explain POD`: prints a pod's timeline and current waits, as formatted by the kubelet's timeline route. */
import type { Observable } from "rxjs";
import type { ExplainOptions } from "../cli/showFlags.ts";
import { podPage, type Screen, showPage } from "./showPage.ts";

/** Prints the timeline and completes. Errors: the pod is unknown, or the server cannot answer. */
export const explain = (options: ExplainOptions, screen: Screen): Observable<never> =>
  showPage(podPage(options.namespace, options.pod, "timeline"), "timelines", options, screen);
