/** `rxlet resources`: prints which container has which hardware, as formatted by the kubelet's route. */
import type { Observable } from "rxjs";
import type { ShowOptions } from "../cli/showFlags.ts";
import { type Screen, showPage } from "./showPage.ts";

/** Prints the page and completes. Errors: the server cannot answer. */
export const resources = (options: ShowOptions, screen: Screen & { readonly columns?: number }): Observable<never> =>
  showPage("/debug/rxlet/resources", "map of the hardware", options, screen, { columns: screen.columns });
