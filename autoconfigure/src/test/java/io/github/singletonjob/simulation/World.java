package io.github.singletonjob.simulation;

/**
 * What all processes of a schedule share.
 *
 * @param plan what is fixed
 * @param loop time
 * @param dice what is random
 * @param history sees everything
 * @param network lies between processes and servers
 * @param store the store
 * @param database the guarded database
 */
record World(Plan plan, EventLoop loop, Dice dice, History history, Network network, StoreServer store,
		Database database) {

	static World create(Plan plan, EventLoop loop, Dice dice, boolean tracing) {
		History history = new History(loop, plan, tracing);
		return new World(plan, loop, dice, history, new Network(loop, dice, plan.trouble()),
				new StoreServer(loop, plan, dice, history), new Database(history, plan.flaw()));
	}

}
