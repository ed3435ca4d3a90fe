package io.github.singletonjob.sample.demo;

import java.time.InstantSource;
import java.util.List;
import java.util.Map;

import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.DependsOn;

/**
 * Starts the demo: a Postgres, a card network and a mail provider, and two servers of the
 * company as processes of their own. The beans are closed in the reverse order of their
 * dependencies, so the servers stop first and the reaper last.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableConfigurationProperties(DemoProperties.class)
class DemoLauncher {

	/**
	 * Starts the demo.
	 * @param args options; {@code --demo.…} is for the stage, all are passed on to the
	 * servers
	 */
	public static void main(String[] args) {
		SpringApplication application = new SpringApplication(DemoLauncher.class);
		application.setDefaultProperties(Map.of("spring.config.name", "demo"));
		ConfigurableApplicationContext context = application.run(args);
		boolean fenced = context.getEnvironment().getProperty("singleton-job.fencing.enabled", Boolean.class, true);
		context.getBean(Narration.class)
			.begin(context.getBean(CompanyDatabase.class).urlWithUser(), fenced,
					() -> new Thread(context::close).start());
	}

	@Bean
	Terminal terminal() {
		return new Terminal(System.out);
	}

	@Bean
	Reaper reaper() {
		return Reaper.start(ServerProcess.MARK);
	}

	@Bean
	StageDirectory stageDirectory(DemoProperties properties) {
		return StageDirectory.claim(properties.directory());
	}

	@Bean
	CompanyDatabase companyDatabase(StageDirectory directory, Reaper reaper, DemoProperties properties) {
		reaper.watchDatabase(directory.data());
		CompanyDatabase database = CompanyDatabase.start(directory);
		CompanyData.create(database.dataSource(), properties.customers());
		return database;
	}

	@Bean
	OutsideWorld outsideWorld(DemoProperties properties) {
		return OutsideWorld.open(properties.cardNetworkDelay(), properties.mailProviderDelay());
	}

	@Bean
	Ledger ledger(CompanyDatabase database) {
		return new Ledger(database.dataSource());
	}

	@Bean
	ClosingWords closingWords(Ledger ledger, OutsideWorld outsideWorld, Terminal terminal) {
		return new ClosingWords(ledger, outsideWorld, terminal);
	}

	// So that the closing words are spoken after the servers have ended.
	@Bean
	@DependsOn("closingWords")
	Servers servers(CompanyDatabase database, OutsideWorld outsideWorld, Reaper reaper, ApplicationArguments arguments,
			Terminal terminal) {
		Servers servers = new Servers(terminal);
		Map<String, String> settings = Map.of("SPRING_DATASOURCE_URL", database.url(), "SPRING_DATASOURCE_USERNAME",
				database.user(), "COMPANY_OUTSIDE_CARDNETWORK", outsideWorld.cardNetwork().toString(),
				"COMPANY_OUTSIDE_MAILPROVIDER", outsideWorld.mailProvider().toString());
		servers.start(settings, List.of(arguments.getSourceArgs()), reaper);
		return servers;
	}

	@Bean
	Story story(Ledger ledger, Terminal terminal) {
		return new Story(ledger, terminal, InstantSource.system());
	}

	@Bean
	Narration narration(Servers servers, Story story, Terminal terminal) {
		return new Narration(servers, story, terminal);
	}

}
