/** `rxlet volumes [POD]`: which volumes are wanted, mounted, waited for and left over, asked of the read-only server. */
import type { Observable } from "rxjs";
import type { VolumesOptions } from "../cli/showFlags.ts";
import { podPage, type Screen, showPage } from "./showPage.ts";

/** Prints the volumes of a pod, or of the node, and completes; errors with what is wrong with pod or server. */
export const volumes = (options: VolumesOptions, screen: Screen): Observable<never> => {
  const { namespace, pod } = options;
  const path = pod === undefined ? "/debug/rxlet/volumes" : podPage(namespace, pod, "volumes");
  return showPage(path, "volumes", options, screen);
};
