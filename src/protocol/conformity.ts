/**
 * What is wrong with a value, and where.
 */
export class NonconformityError extends Error {
  constructor(private _expected: string) {
    super();
    this.name = 'NonconformityError';
    this.message = `at $: ${this._expected} expected`;
  }

  /**
   * Say where, from the inside out.
   */
  at(step: string): this {
    this._path = step + this._path;
    this.message = `at $${this._path}: ${this._expected} expected`;
    return this;
  }

  private _path = '';
}

/**
 * Throws a `NonconformityError`, or completes the value in place.
 */
export type Check = (value: unknown) => void;

type Fields = Record<string, unknown>;

export function record(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new NonconformityError('an object');
  }
  return value as Fields;
}

/*
 * Fields: what they hold, or their default where an earlier version had no such
 * field. Without a default all versions have it.
 */

export function text(value: unknown, name: string, standard?: string): unknown {
  return typeof value === 'string'
    ? value
    : (missing(value, standard) ?? fail('text', name));
}

export function number(
  value: unknown,
  name: string,
  standard?: number
): unknown {
  return typeof value === 'number'
    ? value
    : (missing(value, standard) ?? fail('a number', name));
}

export function flag(
  value: unknown,
  name: string,
  standard?: boolean
): unknown {
  return typeof value === 'boolean'
    ? value
    : (missing(value, standard) ?? fail('true or false', name));
}

/**
 * A field of another kind.
 */
export function field(
  value: unknown,
  name: string,
  check: Check,
  standard?: () => unknown
): unknown {
  if (value === undefined && standard) {
    return standard();
  }
  if (value === null && standard === none) {
    return value;
  }
  try {
    check(value);
  } catch (error) {
    throw located(error, `.${name}`);
  }
  return value;
}

/**
 * A struct that an earlier version lacks has its own defaults.
 */
export function struct(value: unknown, name: string, check: Check): unknown {
  return field(value === undefined ? {} : value, name, check);
}

/*
 * Defaults that fields share.
 */

export const none = (): null => null;
export const emptyList = (): unknown[] => [];
export const emptyMap = (): Fields => ({});

/*
 * Checks of what is in lists, mappings and fields that may be null.
 */

export const isText = isA('string', 'text');
export const isNumber = isA('number', 'a number');
export const isFlag = isA('boolean', 'true or false');

/**
 * Accepts everything.
 */
export function acceptAnything(): void {
  // Nothing is known of it.
}

export function nullable(check: Check): Check {
  return value => {
    if (value !== null) {
      check(value);
    }
  };
}

export function listOf(check: Check): Check {
  return value => {
    if (!Array.isArray(value)) {
      throw new NonconformityError('a list');
    }
    let index = 0;
    try {
      for (; index < value.length; index++) {
        check(value[index]);
      }
    } catch (error) {
      throw located(error, `[${index}]`);
    }
  };
}

export function mappingOf(check: Check): Check {
  return value => {
    for (const [key, item] of Object.entries(record(value))) {
      try {
        check(item);
      } catch (error) {
        throw located(error, `.${key}`);
      }
    }
  };
}

function isA(type: 'string' | 'number' | 'boolean', expected: string): Check {
  return value => {
    if (typeof value !== type) {
      throw new NonconformityError(expected);
    }
  };
}

function missing<T>(value: unknown, standard: T | undefined): T | undefined {
  return value === undefined ? standard : undefined;
}

function fail(expected: string, name: string): never {
  throw new NonconformityError(expected).at(`.${name}`);
}

function located(error: unknown, step: string): unknown {
  return error instanceof NonconformityError ? error.at(step) : error;
}
