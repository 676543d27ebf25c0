/** The interface of a resource's strategy for writes; pure functions of the objects involved. */
import type { FieldProblem } from "../../core/pod/fieldProblem.ts";
import type { ApiUpdateOptions } from "../../ports/apiServer.ts";
import type { ApiIdentity } from "./identity.ts";
import type { ApiObject, StoredObject } from "../../core/apiObjects/storedObject.ts";

/** The subresource of an update; undefined for the object itself. */
export type Subresource = ApiUpdateOptions["subresource"];

/** How objects of a resource are created and updated. */
export interface Strategy {
  /** Whether an update may omit the resourceVersion. */
  readonly unconditionalUpdate: boolean;
  /** Whether an update of a missing object creates it. */
  readonly createOnUpdate: boolean;
  readonly subresources: readonly NonNullable<Subresource>[];
  prepareCreate(object: ApiObject, identity: ApiIdentity): ApiObject;
  prepareUpdate(object: ApiObject, old: StoredObject, subresource: Subresource): ApiObject;
  validateCreate(object: ApiObject): readonly FieldProblem[];
  validateUpdate(object: ApiObject, old: StoredObject, subresource: Subresource): readonly FieldProblem[];
}
