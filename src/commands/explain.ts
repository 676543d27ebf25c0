/** `rxlet explain POD`: what happened to a pod and what it waits for now, asked of the kubelet's read-only server. */
import type { Observable } from "rxjs";
import type { ExplainOptions } from "../cli/showFlags.ts";
import { podPage, type Screen, showPage } from "./showPage.ts";

/** Prints the timeline and completes; errors with what is wrong with pod or server. */
export const explain = (options: ExplainOptions, screen: Screen): Observable<never> =>
  showPage(podPage(options.namespace, options.pod, "timeline"), "timelines", options, screen);
