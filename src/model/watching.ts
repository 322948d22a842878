import type { GraphTiers, WatchState } from '../protocol/types';
import { ModelWork } from './work';

/**
 * What the kernel sees of the user's own code as it runs: what it compiles
 * while it is watched, and the tiers of what the backend compiled.
 */
export abstract class ModelWatching extends ModelWork {
  get tiers(): readonly GraphTiers[] {
    return this._tiers;
  }

  get watch(): WatchState | null {
    return this._watch;
  }

  pinTier(
    number: number,
    pinned: boolean,
    tier: GraphTiers['serving']
  ): Promise<void> {
    return this.attempt(async connection => {
      const { graphs } = await connection.request('pin_tier', {
        number,
        pinned,
        tier
      });
      this.setTiers(graphs);
    });
  }

  async setWatch(on: boolean, clear = false): Promise<void> {
    await this.attempt(async connection => {
      this.setWatchState(await connection.request('set_watch', { on, clear }));
    });
  }

  protected setTiers(tiers: readonly GraphTiers[]): void {
    this._tiers = tiers;
    this.tiersChanged.emit(tiers);
  }

  protected setWatchState(watch: WatchState | null): void {
    this._watch = watch;
    this.watchChanged.emit(watch);
  }

  private _tiers: readonly GraphTiers[] = [];
  private _watch: WatchState | null = null;
}
