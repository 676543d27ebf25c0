/**
 * `rxlet volumes [POD]`: prints desired, mounted, awaited and leftover volumes, as formatted by the kubelet's route.
 */
import type { Observable } from "rxjs";
import type { VolumesOptions } from "../cli/showFlags.ts";
import { podPage, type Screen, showPage } from "./showPage.ts";

/**
 * Prints the volumes of a pod or of the node and completes. Errors: the pod is unknown, or the server cannot answer.
 */
export const volumes = (options: VolumesOptions, screen: Screen): Observable<never> => {
  const { namespace, pod } = options;
  const path = pod === undefined ? "/debug/rxlet/volumes" : podPage(namespace, pod, "volumes");
  return showPage(path, "volumes", options, screen);
};
