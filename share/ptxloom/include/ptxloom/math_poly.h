/*
 * Polynomials of the device's math functions, made by share/math_fit.py: Horner's scheme with fma.
 * The comment of each says what it approximates, where, and its error before rounding.
 */
#ifndef PTXLOOM_MATH_POLY_H
#define PTXLOOM_MATH_POLY_H

/* (e^x - 1 - x) / x^2 for x in [-0.3466, 0.3466]; 2.2e-19. */
PTXLOOM_MATH double ptxloom_poly_exp(double x)
{
	double p = 2.0908484038205946e-09;

	p = ptxloom_fma(p, x, 2.5105214474751413e-08);
	p = ptxloom_fma(p, x, 2.7557294133592734e-07);
	p = ptxloom_fma(p, x, 2.7557255406285044e-06);
	p = ptxloom_fma(p, x, 2.4801587300934e-05);
	p = ptxloom_fma(p, x, 0.00019841269874815834);
	p = ptxloom_fma(p, x, 0.0013888888888896685);
	p = ptxloom_fma(p, x, 0.008333333333326136);
	p = ptxloom_fma(p, x, 0.041666666666666644);
	p = ptxloom_fma(p, x, 0.1666666666666667);
	p = ptxloom_fma(p, x, 0.5);
	return p;
}

/* (e^x - 1 - x) / x^2 for x in [-0.3466, 0.3466]; 2.2e-10. */
PTXLOOM_MATH double ptxloom_poly_expf(double x)
{
	double p = 0.00019890988455544567;

	p = ptxloom_fma(p, x, 0.0013933647862928863);
	p = ptxloom_fma(p, x, 0.008333310927615311);
	p = ptxloom_fma(p, x, 0.041666464944505696);
	p = ptxloom_fma(p, x, 0.16666666681621095);
	p = ptxloom_fma(p, x, 0.5000000013463886);
	return p;
}

/* (sin(r) / r - 1) / x, r^2 = x for x in [1.0e-12, 0.6169]; 7.1e-21. */
PTXLOOM_MATH double ptxloom_poly_sin(double x)
{
	double p = -7.58669109419786e-13;

	p = ptxloom_fma(p, x, 1.6058531516797758e-10);
	p = ptxloom_fma(p, x, -2.5052106231802837e-08);
	p = ptxloom_fma(p, x, 2.7557319219337312e-06);
	p = ptxloom_fma(p, x, -0.00019841269841265063);
	p = ptxloom_fma(p, x, 0.008333333333333331);
	p = ptxloom_fma(p, x, -0.16666666666666666);
	return p;
}

/* (cos(r) - 1 + x / 2) / x^2, r^2 = x for x in [1.0e-12, 0.6169]; 2.4e-22. */
PTXLOOM_MATH double ptxloom_poly_cos(double x)
{
	double p = 4.7458685530816113e-14;

	p = ptxloom_fma(p, x, -1.1470460830795304e-11);
	p = ptxloom_fma(p, x, 2.0876755790721963e-09);
	p = ptxloom_fma(p, x, -2.755731922140179e-07);
	p = ptxloom_fma(p, x, 2.4801587301584645e-05);
	p = ptxloom_fma(p, x, -0.0013888888888888887);
	p = ptxloom_fma(p, x, 0.041666666666666664);
	return p;
}

/* (sin(r) / r - 1) / x, r^2 = x for x in [1.0e-12, 0.6169]; 1.7e-11. */
PTXLOOM_MATH double ptxloom_poly_sinf(double x)
{
	double p = 2.724989523061118e-06;

	p = ptxloom_fma(p, x, -0.00019840086499593593);
	p = ptxloom_fma(p, x, 0.008333331874273714);
	p = ptxloom_fma(p, x, -0.16666666663854168);
	return p;
}

/* (cos(r) - 1 + x / 2) / x^2, r^2 = x for x in [1.0e-12, 0.6169]; 8.9e-13. */
PTXLOOM_MATH double ptxloom_poly_cosf(double x)
{
	double p = -2.730093368721253e-07;

	p = ptxloom_fma(p, x, 2.4800600180363805e-05);
	p = ptxloom_fma(p, x, -0.0013888887671652504);
	p = ptxloom_fma(p, x, 0.041666666664320264);
	return p;
}

/* (2 atanh(s) / s - 2 - 2 x / 3) / x^2, s^2 = x for x in [1.0e-10, 0.02944]; 8.1e-22. */
PTXLOOM_MATH double ptxloom_poly_log(double x)
{
	double p = 0.11723178628152331;

	p = ptxloom_fma(p, x, 0.11706236339019369);
	p = ptxloom_fma(p, x, 0.13334804693868135);
	p = ptxloom_fma(p, x, 0.15384594962517964);
	p = ptxloom_fma(p, x, 0.18181818335392808);
	p = ptxloom_fma(p, x, 0.22222222221655885);
	p = ptxloom_fma(p, x, 0.28571428571429364);
	p = ptxloom_fma(p, x, 0.4);
	return p;
}

/* (2 atanh(s) / s - 2) / x, s^2 = x for x in [1.0e-10, 0.02944]; 1.1e-13. */
PTXLOOM_MATH double ptxloom_poly_logf(double x)
{
	double p = 0.19362776840876303;

	p = ptxloom_fma(p, x, 0.22191394492901764);
	p = ptxloom_fma(p, x, 0.2857175463573879);
	p = ptxloom_fma(p, x, 0.39999998796848624);
	p = ptxloom_fma(p, x, 0.6666666666737545);
	return p;
}

/* (atan(r) / r - 1) / x, r^2 = x for x in [1.0e-12, 1.0]; 3.3e-18. */
PTXLOOM_MATH double ptxloom_poly_atan(double x)
{
	double p = -1.1832505417458077e-05;

	p = ptxloom_fma(p, x, 0.00013687248531380763);
	p = ptxloom_fma(p, x, -0.0007518472526925902);
	p = ptxloom_fma(p, x, 0.0026229778918920284);
	p = ptxloom_fma(p, x, -0.006575683344123301);
	p = ptxloom_fma(p, x, 0.012756172907652435);
	p = ptxloom_fma(p, x, -0.02023870698634692);
	p = ptxloom_fma(p, x, 0.027567942297304703);
	p = ptxloom_fma(p, x, -0.033750132001593);
	p = ptxloom_fma(p, x, 0.03872640214041231);
	p = ptxloom_fma(p, x, -0.04308119655329895);
	p = ptxloom_fma(p, x, 0.047520867735764714);
	p = ptxloom_fma(p, x, -0.052612657357094084);
	p = ptxloom_fma(p, x, 0.05882074956371286);
	p = ptxloom_fma(p, x, -0.06666636435777691);
	p = ptxloom_fma(p, x, 0.07692305354678655);
	p = ptxloom_fma(p, x, -0.09090908969557403);
	p = ptxloom_fma(p, x, 0.11111111107234799);
	p = ptxloom_fma(p, x, -0.14285714285648404);
	p = ptxloom_fma(p, x, 0.19999999999999554);
	p = ptxloom_fma(p, x, -0.3333333333333333);
	return p;
}

/* (atan(r) / r - 1) / x, r^2 = x for x in [1.0e-12, 1.0]; 2.7e-10. */
PTXLOOM_MATH double ptxloom_poly_atanf(double x)
{
	double p = -0.000936299471945721;

	p = ptxloom_fma(p, x, 0.006207254533759523);
	p = ptxloom_fma(p, x, -0.019261081322719302);
	p = ptxloom_fma(p, x, 0.03832744598300562);
	p = ptxloom_fma(p, x, -0.05760716083123495);
	p = ptxloom_fma(p, x, 0.07417496964298229);
	p = ptxloom_fma(p, x, -0.09036742342070074);
	p = ptxloom_fma(p, x, 0.11104706788644086);
	p = ptxloom_fma(p, x, -0.1428531796390729);
	p = ptxloom_fma(p, x, 0.19999990275947271);
	p = ptxloom_fma(p, x, -0.33333333293301176);
	return p;
}

/* (asin(r) / r - 1) / x, r^2 = x for x in [1.0e-12, 0.2501]; 3.8e-18. */
PTXLOOM_MATH double ptxloom_poly_asin(double x)
{
	double p = 0.02877844261277394;

	p = ptxloom_fma(p, x, -0.0148814093931001);
	p = ptxloom_fma(p, x, 0.017419357965078285);
	p = ptxloom_fma(p, x, 0.005450878187643824);
	p = ptxloom_fma(p, x, 0.010324318288763578);
	p = ptxloom_fma(p, x, 0.011478952690254089);
	p = ptxloom_fma(p, x, 0.013971235301124917);
	p = ptxloom_fma(p, x, 0.0173523912659092);
	p = ptxloom_fma(p, x, 0.0223721730020056);
	p = ptxloom_fma(p, x, 0.030381944137085216);
	p = ptxloom_fma(p, x, 0.04464285714637338);
	p = ptxloom_fma(p, x, 0.07499999999998425);
	p = ptxloom_fma(p, x, 0.16666666666666669);
	return p;
}

/* (asin(r) / r - 1) / x, r^2 = x for x in [1.0e-12, 0.2501]; 6.2e-11. */
PTXLOOM_MATH double ptxloom_poly_asinf(double x)
{
	double p = 0.030985460400031715;

	p = ptxloom_fma(p, x, 0.010566947821325393);
	p = ptxloom_fma(p, x, 0.023613714221919088);
	p = ptxloom_fma(p, x, 0.030268919101069484);
	p = ptxloom_fma(p, x, 0.04464767521711883);
	p = ptxloom_fma(p, x, 0.07499992383419403);
	p = ptxloom_fma(p, x, 0.16666666686147094);
	return p;
}

/* (1 + 2 v) e^(v^2) erfc(v), v = 4 (1 + x) / (1 - x) for x in [-1.0, 1.0]; 1.0e-17. */
PTXLOOM_MATH double ptxloom_poly_erfcx(double x)
{
	double p = -2.764120233734578e-10;

	p = ptxloom_fma(p, x, 9.297625263709659e-10);
	p = ptxloom_fma(p, x, 3.2323973445082033e-09);
	p = ptxloom_fma(p, x, -1.2338731403798444e-08);
	p = ptxloom_fma(p, x, -2.0725802488181963e-08);
	p = ptxloom_fma(p, x, 1.0631817593818149e-07);
	p = ptxloom_fma(p, x, 7.771943241086912e-08);
	p = ptxloom_fma(p, x, -8.210647933297337e-07);
	p = ptxloom_fma(p, x, 2.9173425573089733e-07);
	p = ptxloom_fma(p, x, 5.70657829924074e-06);
	p = ptxloom_fma(p, x, -1.1221135665965907e-05);
	p = ptxloom_fma(p, x, -2.4397731143023292e-05);
	p = ptxloom_fma(p, x, 0.00015062142608651945);
	p = ptxloom_fma(p, x, -0.0001992571524726518);
	p = ptxloom_fma(p, x, -0.0007577732435942576);
	p = ptxloom_fma(p, x, 0.005031970069102256);
	p = ptxloom_fma(p, x, -0.01619773406293477);
	p = ptxloom_fma(p, x, 0.037167515526338006);
	p = ptxloom_fma(p, x, -0.06633036581186058);
	p = ptxloom_fma(p, x, 0.09373283499911264);
	p = ptxloom_fma(p, x, -0.10103906603631811);
	p = ptxloom_fma(p, x, 0.06809705425466839);
	p = ptxloom_fma(p, x, 0.015379652102619974);
	p = ptxloom_fma(p, x, -0.13962111684056228);
	p = ptxloom_fma(p, x, 1.2329951186255526);
	return p;
}

/* erf(r) / r, r^2 = x for x in [1.0e-12, 1.0]; 1.4e-19. */
PTXLOOM_MATH double ptxloom_poly_erf(double x)
{
	double p = 5.956905633650234e-11;

	p = ptxloom_fma(p, x, -1.1372693191124576e-09);
	p = ptxloom_fma(p, x, 1.4659736155673478e-08);
	p = ptxloom_fma(p, x, -1.635030706523455e-07);
	p = ptxloom_fma(p, x, 1.6460999970345419e-06);
	p = ptxloom_fma(p, x, -1.4925595235970651e-05);
	p = ptxloom_fma(p, x, 0.00012055331110409494);
	p = ptxloom_fma(p, x, -0.0008548326980801447);
	p = ptxloom_fma(p, x, 0.0052239776248174784);
	p = ptxloom_fma(p, x, -0.02686617064507674);
	p = ptxloom_fma(p, x, 0.11283791670954878);
	p = ptxloom_fma(p, x, -0.3761263890318375);
	p = ptxloom_fma(p, x, 1.1283791670955126);
	return p;
}

/* gamma(1.5 + x) for x in [-0.5, 0.5]; 2.9e-17. */
PTXLOOM_MATH double ptxloom_poly_gamma(double x)
{
	double p = -0.00025303807808043895;

	p = ptxloom_fma(p, x, 0.00037955491879486174);
	p = ptxloom_fma(p, x, -0.00022139952612051456);
	p = ptxloom_fma(p, x, 0.0003320885800907498);
	p = ptxloom_fma(p, x, -0.0007046879722466143);
	p = ptxloom_fma(p, x, 0.0010569633457018935);
	p = ptxloom_fma(p, x, -0.0015159595901781905);
	p = ptxloom_fma(p, x, 0.002273514062024839);
	p = ptxloom_fma(p, x, -0.003423629338262631);
	p = ptxloom_fma(p, x, 0.005132883760616497);
	p = ptxloom_fma(p, x, -0.007690139287816347);
	p = ptxloom_fma(p, x, 0.011522407277990318);
	p = ptxloom_fma(p, x, -0.017222447013020576);
	p = ptxloom_fma(p, x, 0.02583761230507782);
	p = ptxloom_fma(p, x, -0.03800193543217766);
	p = ptxloom_fma(p, x, 0.058610303633145476);
	p = ptxloom_fma(p, x, -0.07752305230182892);
	p = ptxloom_fma(p, x, 0.1446453590475836);
	p = ptxloom_fma(p, x, -0.10729480456475984);
	p = ptxloom_fma(p, x, 0.4148134536882826);
	p = ptxloom_fma(p, x, 0.032338397448885);
	p = ptxloom_fma(p, x, 0.886226925452758);
	return p;
}

/* log(gamma(v)) / ((v - 1) (v - 2)), v = 1.5 + x for x in [-0.75, 0.75]; 2.2e-18. */
PTXLOOM_MATH double ptxloom_poly_lgamma(double x)
{
	double p = 1.2731097772961102e-06;

	p = ptxloom_fma(p, x, -1.9673320709041737e-06);
	p = ptxloom_fma(p, x, -2.1489649783126935e-06);
	p = ptxloom_fma(p, x, 3.3117596977261406e-06);
	p = ptxloom_fma(p, x, 4.383964683448757e-06);
	p = ptxloom_fma(p, x, -6.784132734012053e-06);
	p = ptxloom_fma(p, x, 2.4230183729916525e-07);
	p = ptxloom_fma(p, x, -4.33232057426622e-07);
	p = ptxloom_fma(p, x, 8.074667491405345e-06);
	p = ptxloom_fma(p, x, -1.264693101998377e-05);
	p = ptxloom_fma(p, x, 1.6253244127562165e-05);
	p = ptxloom_fma(p, x, -2.5666846756245553e-05);
	p = ptxloom_fma(p, x, 4.189845167047892e-05);
	p = ptxloom_fma(p, x, -6.65009829365161e-05);
	p = ptxloom_fma(p, x, 0.00010560180634285953);
	p = ptxloom_fma(p, x, -0.00016886064347874108);
	p = ptxloom_fma(p, x, 0.000271279805620913);
	p = ptxloom_fma(p, x, -0.00043799929510449743);
	p = ptxloom_fma(p, x, 0.0007115220349533592);
	p = ptxloom_fma(p, x, -0.0011644141299556872);
	p = ptxloom_fma(p, x, 0.0019229161518121024);
	p = ptxloom_fma(p, x, -0.0032120740949569578);
	p = ptxloom_fma(p, x, 0.005446457844214796);
	p = ptxloom_fma(p, x, -0.009425622447952201);
	p = ptxloom_fma(p, x, 0.016797098631191436);
	p = ptxloom_fma(p, x, -0.03130848750101803);
	p = ptxloom_fma(p, x, 0.06291140107456492);
	p = ptxloom_fma(p, x, -0.14595989591430605);
	p = ptxloom_fma(p, x, 0.4831289505409809);
	return p;
}

/* x^(1/3), a first guess for x in [1.0, 8.0]; 0.00029. */
PTXLOOM_MATH double ptxloom_poly_cbrt(double x)
{
	double p = 2.5815280891314997e-06;

	p = ptxloom_fma(p, x, -9.492345023000187e-05);
	p = ptxloom_fma(p, x, 0.001475514625948261);
	p = ptxloom_fma(p, x, -0.012680365098260418);
	p = ptxloom_fma(p, x, 0.06656501256654948);
	p = ptxloom_fma(p, x, -0.2279792153715843);
	p = ptxloom_fma(p, x, 0.6278997225378361);
	p = ptxloom_fma(p, x, 0.5451060735802191);
	return p;
}

/* erfinv(r) / r, r^2 = x for x in [1.0e-12, 0.2501]; 2.7e-19. */
PTXLOOM_MATH double ptxloom_poly_erfinv(double x)
{
	double p = 0.12013988506665702;

	p = ptxloom_fma(p, x, -0.09659612543785737);
	p = ptxloom_fma(p, x, 0.08735877922521272);
	p = ptxloom_fma(p, x, -0.0015180991347376726);
	p = ptxloom_fma(p, x, 0.030926683556497865);
	p = ptxloom_fma(p, x, 0.026965869444232085);
	p = ptxloom_fma(p, x, 0.03181328872214486);
	p = ptxloom_fma(p, x, 0.03645508815312814);
	p = ptxloom_fma(p, x, 0.04283738487533796);
	p = ptxloom_fma(p, x, 0.051731254206879476);
	p = ptxloom_fma(p, x, 0.06495961850081922);
	p = ptxloom_fma(p, x, 0.0865521292292127);
	p = ptxloom_fma(p, x, 0.12755617530570315);
	p = ptxloom_fma(p, x, 0.23201366653465413);
	p = ptxloom_fma(p, x, 0.886226925452758);
	return p;
}

/*
 * v / s with erfc(v) = e^(-s^2), s = 0.8 + 3.5 (1 + x): a first guess for x in [-1.0, 1.0]; 3.2e-5.
 */
PTXLOOM_MATH double ptxloom_poly_erfcinv(double x)
{
	double p = 0.010815552357884964;

	p = ptxloom_fma(p, x, -0.005535176775385262);
	p = ptxloom_fma(p, x, -0.04005562098820738);
	p = ptxloom_fma(p, x, 0.04100251010334131);
	p = ptxloom_fma(p, x, 0.007751995207872304);
	p = ptxloom_fma(p, x, -0.0007060587989905765);
	p = ptxloom_fma(p, x, -0.03866239896915515);
	p = ptxloom_fma(p, x, 0.04748254199351537);
	p = ptxloom_fma(p, x, -0.04823118119796791);
	p = ptxloom_fma(p, x, 0.058232639223261835);
	p = ptxloom_fma(p, x, -0.0674224801246449);
	p = ptxloom_fma(p, x, 0.069307330215054);
	p = ptxloom_fma(p, x, 0.9443122635182376);
	return p;
}

/*
 * v / s with erfc(v) = e^(-s^2), s = 7.5 + 10 (1 + x): a first guess for x in [-1.0, 1.0]; 3.9e-6.
 */
PTXLOOM_MATH double ptxloom_poly_erfcinv_far(double x)
{
	double p = -0.0006833326035576581;

	p = ptxloom_fma(p, x, 0.001149990280248533);
	p = ptxloom_fma(p, x, -0.0003816787476631277);
	p = ptxloom_fma(p, x, 0.000581986808525452);
	p = ptxloom_fma(p, x, -0.0019988522125719997);
	p = ptxloom_fma(p, x, 0.0030701769693821583);
	p = ptxloom_fma(p, x, -0.004173104758320448);
	p = ptxloom_fma(p, x, 0.00547887572314992);
	p = ptxloom_fma(p, x, 0.9943832831239809);
	return p;
}

#endif
