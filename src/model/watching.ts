import type { Choices, GraphTiers, WatchState } from '../protocol/types';
import { NO_CHOICES } from './variants';
import { ModelWork } from './work';

/**
 * The state of the kernel that does not depend on the subject: watching, tiers,
 * and the choices of switches.
 */
export abstract class ModelWatching extends ModelWork {
  get choices(): Choices {
    return this._choices;
  }

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

  protected setChoices(choices: Choices): void {
    this._choices = choices;
    this.choicesChanged.emit(choices);
  }

  protected setTiers(tiers: readonly GraphTiers[]): void {
    this._tiers = tiers;
    this.tiersChanged.emit(tiers);
  }

  protected setWatchState(watch: WatchState | null): void {
    this._watch = watch;
    this.watchChanged.emit(watch);
  }

  private _choices = NO_CHOICES;
  private _tiers: readonly GraphTiers[] = [];
  private _watch: WatchState | null = null;
}
