/** `rxlet pressure`: prints the eviction signals of the node, what would be freed or evicted first, and the last decision, as formatted by the kubelet's route. */
import type { Observable } from "rxjs";
import type { ShowOptions } from "../cli/showFlags.ts";
import { type Screen, showPage } from "./showPage.ts";

/** Prints the page and completes. Errors: the server cannot answer. */
export const pressure = (options: ShowOptions, screen: Screen): Observable<never> =>
  showPage("/debug/rxlet/pressure", "eviction signals", options, screen);
