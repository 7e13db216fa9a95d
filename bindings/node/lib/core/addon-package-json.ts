// The part of the native half that reads package.json files.

/** `none` if there is no type, or one that Node ignores. */
export type ModuleType = 'none' | 'commonjs' | 'module';

/** The types, by native code's numbers. */
export const TYPES: readonly ModuleType[] = ['none', 'commonjs', 'module'];

/** The failure of a file that cannot be read: errno, or 0 and a text if there is no number. */
type Unreadable = [kind: 0, path: string, errno: number, reason: string];
/** The failure of an invalid file. */
type Invalid = [kind: 1, path: string, line: number, column: number, reason: string];
/** The failure of a path that no file can have. */
type Impossible = [kind: 2, path: string, reason: string];
export type Failure = Unreadable | Invalid | Impossible;

/** A value as it is written, and 1 if it is JSON or 0 if it is a string. */
type Raw = [value: string | undefined, isJSON: number];
export type Fields = [path: string, name: string | undefined, main: string | undefined, type: number, ...Raw, ...Raw];

/** The native functions. A policy is -1 for never, 0 for on change, or an age in milliseconds. */
export interface NativePackageJSON {
  /** Returns the number of the type of the package.json that decides for a file. */
  packageType(path: string, policy: number): number | Failure;
  /**
   * Does `packageType` for paths joined by NUL, and puts the answers into an array of that length.
   * Returns the number of paths, or the first failure.
   */
  packageTypes(joined: string, types: Uint8Array, policy: number): number | Failure;
  /**
   * Does the same with the numbers of formats. `typescript` is 1 to know the extensions of
   * TypeScript.
   */
  packageFormats(joined: string, formats: Uint8Array, policy: number, typescript: number): number | Failure;
  /** Returns a number that stands for the package.json that decides for a file, 0 for none. */
  packageNearest(path: string, policy: number): number | Failure;
  /**
   * Does `packageNearest` by the rules of scopes. Returns the path where the search ended if there
   * is no package.json.
   */
  packageScope(path: string, policy: number): number | string | Failure;
  /** Returns the fields of the package.json that the last call of these two found. */
  packageFound(): Fields | undefined;
  /**
   * Returns the milliseconds for which the last answer holds, counted from its call, if its policy
   * is an age.
   */
  packageRemaining(): number;
  /** Forgets a path and all beneath it, or everything. */
  packageForget(path: string | undefined): Failure | undefined;
  /** Has each `packageForget` of any worker raise the one element of this array. */
  packageWatch(counter: Uint32Array): void;
}
